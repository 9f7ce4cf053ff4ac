# Shared by the tests of the programs: sourced, not run.
set -euo pipefail

: "${UDCCP_BIN:?the folder of the programs}" "${UDCCP_DATA:?tests/data}"
send=$UDCCP_BIN/dccp-send
recv=$UDCCP_BIN/dccp-recv
dump=$UDCCP_BIN/dccp-dump
work=$(mktemp -d)
started=()
failures=0

clean_up() {
  local pid
  for pid in "${started[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}
skip() {
  echo "skipped: $*"
  exit 77
}
finish() {
  ((failures == 0)) || exit 1
  exit 0
}

# start_recv [option...]: a receiver on ports of its own; sets udp_port, dccp_port, receiver.
# Its output is in $work/recv.out and $work/recv.err.
start_recv() {
  local try waited
  for ((try = 0; try < 8; ++try)); do
    udp_port=$((20000 + RANDOM % 20000))
    dccp_port=$((20000 + RANDOM % 20000))
    rm -f "$work/recv.out" "$work/recv.err"
    "$recv" --udp-port "$udp_port" -p "$dccp_port" "$@" >"$work/recv.out" 2>"$work/recv.err" &
    receiver=$!
    started+=("$receiver")
    for ((waited = 0; waited < 400; ++waited)); do
      grep -qs '^Listening' "$work/recv.out" "$work/recv.err" && return 0
      kill -0 "$receiver" 2>/dev/null || break
      sleep 0.05
    done
    grep -q 'in use' "$work/recv.err" || break
  done
  echo "the receiver does not start:" >&2
  cat "$work/recv.out" "$work/recv.err" >&2
  exit 1
}

# end_recv SIGNAL: ends the receiver; its exit code is in `code`.
end_recv() {
  kill "-$1" "$receiver" 2>/dev/null || true
  code=0
  wait "$receiver" 2>/dev/null || code=$?
}

# run_send [option...]: dccp-send to the receiver; its exit code is in `code`.
run_send() {
  code=0
  timeout 60 "$send" --udp-port "$udp_port" -p "$dccp_port" --timeout 5 "$@" \
    >"$work/send.out" 2>"$work/send.err" || code=$?
}

# expect NAME CODE PATTERN FILE TOOL: the exit code, and exactly one error line, which matches.
expect() {
  local name=$1 want=$2 pattern=$3 file=$4 tool=$5 lines
  [[ $code == "$want" ]] || fail "$name: exit code $code, not $want ($(cat "$file"))"
  lines=$(grep -c "^$tool: " "$file" || true)
  [[ $lines == 1 ]] || fail "$name: $lines error lines, not 1 ($(cat "$file"))"
  grep -Eq "^$tool: .*($pattern)" "$file" || fail "$name: no '$pattern' in: $(cat "$file")"
}

# json FILE EXPRESSION: the expression over the document `d` must hold.
json() {
  python3 -c "
import json, sys
d = json.load(open(sys.argv[1]))
ok = eval('(' + sys.argv[2] + ')')
sys.exit(0 if ok else 1)" "$1" "$2" || fail "$1: not true: $2 in: $(head -c 3000 "$1")"
}
