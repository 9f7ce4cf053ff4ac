#!/usr/bin/env bash
# dccp-lab sizes and compare: what an interrupt leaves, --resume, verdicts, bad input.
source "$(dirname "$0")/lib.sh"
lab=$UDCCP_BIN/dccp-lab
options=(sizes -4 --encap udp --sizes 1000 --ccid 2 --seconds 0.5 --omit 0.2 --out "$work/out")

# Interrupted in the second run: the first is kept, no program is left.
"$lab" "${options[@]}" --repeat 20 >"$work/lab.out" 2>"$work/lab.err" &
pid=$!
started+=("$pid")
for ((i = 0; i < 400; ++i)); do
  [[ -s $work/out/results.json ]] && break
  sleep 0.05
done
kill -INT "$pid"
code=0
wait "$pid" || code=$?
expect "interrupted" 1 'interrupted; --resume' "$work/lab.err" dccp-lab
json "$work/out/results.json" "sum(len(c['runs']) for c in d['cells']) >= 1"
[[ -z $(pgrep -P "$pid" || true) ]] || fail "the lab left a program behind"

code=0
"$lab" "${options[@]}" --repeat 2 >"$work/lab.out" 2>"$work/lab.err" || code=$?
expect "results are there" 1 'results.json is there: --resume' "$work/lab.err" dccp-lab
"$lab" "${options[@]}" --repeat 2 --resume >"$work/lab.out" 2>"$work/lab.err" ||
  fail "resumed: $(cat "$work/lab.err")"
json "$work/out/results.json" "[c['id'] for c in d['cells']] == ['v4-plain-1000', 'v4-ccid2-udp-1000']"
json "$work/out/results.json" "all(len(c['runs']) >= 2 and c['mean_bps'] > 0 and c['ci95_bps'] > 0
  and c['cpu']['sender'] > 0 and c['cpu']['receiver_us_per_packet'] > 0 for c in d['cells'])"
grep -q 'v4-ccid2-udp-1000' "$work/out/report.html" || fail "no report beside the results"
grep -q '^v4-ccid2-udp-1000,' "$work/out/results.csv" || fail "no CSV row"

"$lab" compare "$work/out/results.json" "$work/out/results.json" --json >"$work/compare.json" ||
  fail "compare fails"
json "$work/compare.json" "len(d['rows']) == 6 and all(
  r['verdict'] == 'no significant difference' for r in d['rows'])"

code=0
"$lab" compare "$work/out/results.json" "$work/none" 2>"$work/lab.err" || code=$?
expect "no such file" 1 'cannot read' "$work/lab.err" dccp-lab
for arguments in '' 'sizes --sizes 5' 'sizes --ccid 9' 'sizes --encap tcp' 'sizes --seconds x' \
  'sizes --only nosuch' 'compare a' 'nosuch'; do
  code=0
  # shellcheck disable=SC2086  # the arguments are words
  "$lab" $arguments >"$work/usage.out" 2>"$work/usage.err" || code=$?
  expect "usage '$arguments'" 2 '.' "$work/usage.err" dccp-lab
done
finish
