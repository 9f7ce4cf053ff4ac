#!/usr/bin/env bash
# Runs every fuzz target for SECONDS in all, as many at once as there are processors, and prints
# what each has done. Exit status 1 where one found something.
#
# usage: run.sh BUILD_FOLDER SECONDS
set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
build=$(cd "$1" && pwd)
seconds=$2
targets=(fuzz_packet fuzz_options fuzz_negotiation fuzz_endpoint fuzz_pair)

[[ $seconds =~ ^[1-9][0-9]*$ ]] || {
  echo "fuzz: not a number of seconds: $seconds" >&2
  exit 2
}
slots=$(nproc)
((slots < ${#targets[@]})) || slots=${#targets[@]}
rounds=$(((${#targets[@]} + slots - 1) / slots))
each=$((seconds / rounds))
((each > 0)) || each=1
mkdir -p "$build/artifacts" "$build/logs"

# run_one TARGET: leaves logs/TARGET.log and logs/TARGET.status.
run_one() {
  local target=$1 status=0
  mkdir -p "$build/corpus/$target"
  "$build/bin/$target" "$build/corpus/$target" "$here/corpus/$target" \
    -max_total_time="$each" -max_len=1024 -len_control=20 -entropic=0 \
    -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$build/artifacts/$target-" >"$build/logs/$target.log" 2>&1 || status=$?
  echo "$status" >"$build/logs/$target.status"
}

echo "fuzz: $each s for each of ${#targets[@]} targets, $slots at once"
for ((i = 0; i < ${#targets[@]}; i += slots)); do
  for target in "${targets[@]:i:slots}"; do run_one "$target" & done
  wait
done

# last PATTERN LOG: the number that follows the last PATTERN.
last() { grep -oE "$1 *[0-9]+" "$2" | tail -n 1 | grep -oE '[0-9]+$' || echo 0; }

found=0
printf '%-18s %10s %9s %9s %9s %8s  %s\n' target runs runs/s edges of features result
for target in "${targets[@]}"; do
  log=$build/logs/$target.log
  status=$(cat "$build/logs/$target.status")
  result=ok
  if ((status != 0)); then
    found=1
    result="FOUND, see $log"
  fi
  edges=$(grep -oE '\([0-9]+ inline 8-bit counters\)|\([0-9]+ inline' "$log" | head -n 1 |
    grep -oE '[0-9]+' | head -n 1 || true)
  printf '%-18s %10s %9s %9s %9s %8s  %s\n' "$target" \
    "$(last 'number_of_executed_units:' "$log")" "$(last 'average_exec_per_sec:' "$log")" \
    "$(last 'cov:' "$log")" "${edges:-?}" "$(last 'ft:' "$log")" "$result"
  ((status == 0)) ||
    grep -E 'broken:|ERROR:|runtime error|Assertion|Test unit' "$log" | sed 's/^/    /' || true
done
exit "$found"
