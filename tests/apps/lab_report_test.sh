#!/usr/bin/env bash
# dccp-lab report: of results and captures, without its library, bad input; losses in a sequence
# plot against what dccp-dump counts.
source "$(dirname "$0")/lib.sh"
lab=$UDCCP_BIN/dccp-lab
netem=$UDCCP_BIN/dccp-netem
python3 "$(dirname "$0")/sample_results.py" "$work/tfrc.json" "$work/sizes.json"

# figures_of FILE: the data of its charts.
figures_of() {
  python3 -c "
import re, sys
print(re.search(r'<script type=\"application/json\" id=\"figures\">(.*?)</script>',
                open(sys.argv[1]).read(), re.S).group(1))" "$1"
}

have_library=0
[[ -s $UDCCP_BIN/../share/udccp/plotly-basic.min.js ]] && have_library=1
plotly=()
if ((have_library == 0)); then
  echo 'Plotly' >"$work/plotly.js"
  plotly=(--plotly "$work/plotly.js")
fi

"$lab" report "$work/tfrc.json" "$work/sizes.json" -o "$work/r.html" "${plotly[@]}" \
  >"$work/lab.out" 2>"$work/lab.err" || fail "report: $(cat "$work/lab.err")"
[[ ! -s $work/lab.err ]] || fail "report complains: $(cat "$work/lab.err")"
figures_of "$work/r.html" >"$work/figures.json"
json "$work/figures.json" "{f['id'] for f in d} >= {'ratio', 'measured', 'rates', 'throughput',
  'sender-us'}"
grep -q "default-src 'none'" "$work/r.html" || fail "the page may load from elsewhere"
[[ $("$lab" report "$work/tfrc.json" -o "$work/none/r.html" 2>&1) == *'cannot write'* ]] ||
  fail "a folder that is not there"

# Losses: with CCID 2, what Ack Vectors report; with CCID 3, loss events.
for ccid in 2 3; do
  start_recv -4 -1
  path_port=$((udp_port + 1))
  "$netem" --seed 7 -i 0 --delay 5ms --fwd-loss 3% --rate 10Mbit --queue 50 \
    udp --listen "127.0.0.1:$path_port" --to "127.0.0.1:$udp_port" >"$work/netem.out" 2>&1 &
  path=$!
  started+=("$path")
  for ((i = 0; i < 400; ++i)); do
    [[ -s $work/netem.out ]] && break
    sleep 0.05
  done
  code=0
  timeout 60 "$send" -4 --udp-port "$path_port" -p "$dccp_port" --ccid "$ccid" -n 1500 -s 500 \
    --timeout 20 --trace "$work/$ccid.pcap" 127.0.0.1 >"$work/send.out" 2>"$work/send.err" ||
    code=$?
  [[ $code == 0 ]] || fail "CCID $ccid: $(cat "$work/send.err")"
  kill "$path" 2>/dev/null || true
  wait "$path" "$receiver" 2>/dev/null || true
  "$lab" report --trace "$work/$ccid.pcap" -o "$work/$ccid.html" "${plotly[@]}" \
    >"$work/lab.out" 2>"$work/lab.err" || fail "trace: $(cat "$work/lab.err")"
  figures_of "$work/$ccid.html" >"$work/$ccid.json"
done
reported=$("$dump" --stats "$work/2.pcap" | grep -o '[0-9]* reported lost' | sort -n | tail -1)
json "$work/2.json" "len(d) == 2 and len(d[0]['choices']) == 3 and [len(s['x']) for s in
  d[0]['choices'][0]['series'] if s['name'] == 'packets lost'] == [${reported%% *}]"
json "$work/2.json" "sum(d[1]['series'][1]['y']) == ${reported%% *}"
json "$work/3.json" "len(d) == 2 and 5 < [len(s['x']) for s in
  d[0]['choices'][0]['series'] if s['name'] == 'loss events'][0] < 60"

# The library is a file beside the programs; a copy of the program alone has none.
mkdir -p "$work/alone/bin"
cp "$lab" "$work/alone/bin/"
if "$work/alone/bin/dccp-lab" report "$work/tfrc.json" -o "$work/r.html" 2>"$work/lab.err"; then
  if [[ -s $work/lab.err ]]; then
    code=0
    expect "without the library" 0 'tables only, no charts.*--plotly' "$work/lab.err" dccp-lab
    grep -q 'No charts' "$work/r.html" || fail "the page does not say that charts are missing"
    grep -q 'Topology relay' "$work/r.html" || fail "no table"
  fi
else
  fail "no report without the library"
fi

echo '{"plan": {}, "cells": 3}' >"$work/bad.json"
echo 'no capture' >"$work/bad.pcap"
for words in "$work/none.json" "$work/bad.json" "--trace $work/bad.pcap" "--trace $work/none" \
  "$work/tfrc.json --plotly $work/bad.json"; do
  code=0
  # shellcheck disable=SC2086  # the words are arguments
  "$lab" report $words -o "$work/x.html" >"$work/lab.out" 2>"$work/lab.err" || code=$?
  expect "report $words" 1 '.' "$work/lab.err" dccp-lab
  [[ ! -e $work/x.html ]] || fail "report $words writes a page"
done
for words in '' "$work/tfrc.json" "-o $work/x.html"; do
  code=0
  # shellcheck disable=SC2086  # the words are arguments
  "$lab" report $words >"$work/lab.out" 2>"$work/lab.err" || code=$?
  expect "usage of report $words" 2 '.' "$work/lab.err" dccp-lab
done
finish
