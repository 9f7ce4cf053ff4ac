#!/usr/bin/env bash
# A report in headless Chromium, with no network: no complaint on the console, and every chart has
# the marks of its data.
source "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
chromium=
for name in chromium chromium-browser google-chrome; do
  chromium=$(command -v "$name") && break
done
[[ -n $chromium ]] || skip "no Chromium here, the report was not loaded in a browser"
[[ -s $UDCCP_BIN/../share/udccp/plotly-basic.min.js ]] ||
  skip "this build has no plotly.js, so its reports have no charts"

sandbox=()
((EUID != 0)) || sandbox=(--no-sandbox)
# load PAGE [option...]: its DOM once all is drawn in $work/dom, the browser's log in $work/log.
load() {
  local page=$1
  shift
  HOME=$work timeout 200 "$chromium" --headless=new "${sandbox[@]}" --disable-gpu \
    --disable-dev-shm-usage --user-data-dir="$work/profile" --enable-logging=stderr \
    --host-resolver-rules='MAP * ~NOTFOUND' --virtual-time-budget=60000 "$@" \
    --dump-dom "file://$page" >"$work/dom" 2>"$work/log" || fail "Chromium: $(tail -3 "$work/log")"
}

python3 "$here/sample_results.py" "$work/tfrc.json" "$work/sizes.json"
start_recv -4 -1
run_send --ccid 2 -n 2000 -s 300 -b 5Mbit --trace "$work/t.pcap" 127.0.0.1
[[ $code == 0 ]] || fail "dccp-send: $(cat "$work/send.err")"
"$UDCCP_BIN/dccp-lab" report "$work/tfrc.json" "$work/sizes.json" --trace "$work/t.pcap" \
  -o "$work/r.html" 2>"$work/lab.err" || fail "report: $(cat "$work/lab.err")"

for size in 390,800 1280,900; do
  load "$work/r.html" --window-size="$size"
  ! grep CONSOLE "$work/log" || fail "complaints on the console at $size"
  python3 "$here/count_marks.py" "$work/r.html" "$work/dom" || fail "marks at $size"
done

# What this test rests on: a fault is seen on the console, and in the count.
sed 's/id="figures">\[/id="figures">{/' "$work/r.html" >"$work/broken.html"
load "$work/broken.html"
grep -q CONSOLE "$work/log" || fail "a fault is not seen on the console"
! python3 "$here/count_marks.py" "$work/r.html" "$work/dom" >/dev/null ||
  fail "charts that were not drawn are counted"
finish
