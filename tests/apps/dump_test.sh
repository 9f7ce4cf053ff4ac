#!/usr/bin/env bash
# dccp-dump on captures of a kernel, on our own traces, and on files that are broken.
source "$(dirname "$0")/lib.sh"

for name in qemu-resets-cscov-v4:15 qemu-seqwin5000-ccid2-v4:8 qemu-request-to-host-ccid3-v6:2; do
  file=$UDCCP_DATA/pcap/${name%:*}.pcap
  "$dump" "$file" >"$work/text" || fail "$file: exit code $?"
  [[ $(wc -l <"$work/text") == "${name#*:}" ]] || fail "$file: $(wc -l <"$work/text") packets"
  "$dump" --check "$file" >"$work/check" 2>&1 || fail "$file: $(cat "$work/check")"
  "$dump" --json "$file" >"$work/dump.json" || fail "$file --json: exit code $?"
  json "$work/dump.json" "len(d['packets']) == ${name#*:} and d['violations'] == 0"
  json "$work/dump.json" 'all(p["checksum"] == "good" for p in d["packets"])'
done

# Connections with Linux. What the network copied is no repetition.
for file in "$UDCCP_SOURCE"/interop/captures/*.pcap; do
  "$dump" --check "$file" >"$work/check" 2>&1 || fail "$file: $(cat "$work/check")"
done
copies=$UDCCP_SOURCE/interop/captures/stack-to-kernel.v6.2.two-way.client.duplicate.pcap
"$dump" --stats "$copies" | grep -q ' repeated' || fail "no copy in $copies"
# The same number on another packet is one.
python3 - "$copies" "$work/repeats.pcap" <<'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read()
records, at = [], 24
while at < len(data):
    size = struct.unpack_from("<I", data, at + 8)[0]
    records.append(bytearray(data[at:at + 16 + size]))
    at += 16 + size
last = [r for r in records if len(r) > 16 + 54 + 60][-1]
again = bytearray(last)
again[-1] ^= 0xFF
open(sys.argv[2], "wb").write(data + again)
PYTHON
"$dump" --check "$work/repeats.pcap" >"$work/check" 2>&1 && fail "a number used twice was not found"
grep -q 'repeats with other content' "$work/check" || fail "number used twice: $(cat "$work/check")"

resets=$UDCCP_DATA/pcap/qemu-resets-cscov-v4.pcap
"$dump" --fields number,type,seq,ack,reset.code,reset.data,cscov,payload_bytes "$resets" >"$work/f"
sed -n '2p;6p;10p' "$work/f" >"$work/lines"
printf '%s\n' $'2\tReset\t0\t127693084124739\t3\t[0,0,0]\t0\t0' \
  $'6\tReset\t0\t167452985294017\t5\t[34,6,0]\t0\t0' \
  $'10\tDataAck\t169222381900804\t246683545818413\t\t\t1\t40' >"$work/want"
diff "$work/want" "$work/lines" || fail "fields"
"$dump" --stats "$resets" >"$work/stats"
[[ $(wc -l <"$work/stats") == 4 ]] || fail "stats: not 4 connections"
grep -q 'handshake complete.*CCID/client 2.*3 data, 120 bytes.*Reset 1 (Closed) by server' \
  "$work/stats" || fail "stats: $(cat "$work/stats")"

# A broken file: what there is of it, one error line, exit code 1.
head -c 700 "$resets" >"$work/cut.pcap"
code=0
"$dump" "$work/cut.pcap" >"$work/text" 2>"$work/err" || code=$?
expect "cut file" 1 'ends inside a frame' "$work/err" dccp-dump
[[ -s $work/text ]] || fail "cut file: nothing was decoded"
code=0
echo 'not a capture' >"$work/text.pcap"
"$dump" "$work/text.pcap" >"$work/text" 2>"$work/err" || code=$?
expect "no capture" 1 'is no pcap or pcapng file' "$work/err" dccp-dump
code=0
"$dump" --fields nonsense "$resets" >"$work/text" 2>"$work/err" || code=$?
expect "no such field" 2 'no such field' "$work/err" dccp-dump
if [[ -c /dev/full ]]; then
  code=0
  "$dump" "$resets" >/dev/full 2>"$work/err" || code=$?
  expect "full disk" 1 'cannot write' "$work/err" dccp-dump
fi

# A changed byte is found.
python3 - "$resets" "$work/changed.pcap" <<'PYTHON'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[-1] ^= 0xFF
open(sys.argv[2], "wb").write(data)
PYTHON
code=0
"$dump" --check "$work/changed.pcap" >"$work/text" 2>"$work/err" || code=$?
[[ $code == 1 ]] || fail "changed byte: exit code $code"
grep -q 'bad checksum' "$work/text" || fail "changed byte: $(cat "$work/text")"

# Our own trace: no violation, and an independent decoder agrees.
start_recv -1 --trace "$work/recv.pcap"
run_send -n 300 -s 400 -b 4Mbit --trace "$work/send.pcap" --events "$work/events.jsonl" 127.0.0.1
[[ $code == 0 ]] || fail "send: $(cat "$work/send.err")"
wait "$receiver" || fail "recv: $(cat "$work/recv.err")"
python3 -c "import json, sys; [json.loads(l) for l in open(sys.argv[1])]" "$work/events.jsonl" ||
  fail "events are no JSON lines"
for trace in send recv; do
  "$dump" --check "$work/$trace.pcap" >"$work/text" 2>&1 || fail "$trace trace: $(cat "$work/text")"
  "$dump" --fields type "$work/$trace.pcap" | head -3 | paste -sd' ' >"$work/handshake"
  grep -q '^Request Response \(Ack\|DataAck\)' "$work/handshake" ||
    fail "$trace trace: handshake is $(cat "$work/handshake")"
done
"$dump" - <"$work/send.pcap" >"$work/text" || fail "standard input"

# The options of CCID 4, which its endpoints have agreed upon.
start_recv -1
run_send -t 0.5 -s 100 --ccid 4 --trace "$work/voice.pcap" 127.0.0.1
[[ $code == 0 ]] || fail "ccid 4: $(cat "$work/send.err")"
wait "$receiver" || fail "ccid 4: $(cat "$work/recv.err")"
"$dump" --check "$work/voice.pcap" >"$work/text" 2>&1 || fail "ccid 4: $(cat "$work/text")"
"$dump" "$work/voice.pcap" >"$work/text"
for option in 'Dropped Packets 0' 'Loss Intervals ' 'Receive Rate ' 'Sender RTT Estimate '; do
  grep -q "$option" "$work/text" || fail "ccid 4: no $option"
done
"$dump" --json "$work/voice.pcap" >"$work/dump.json" || fail "ccid 4 --json: exit code $?"
json "$work/dump.json" \
  'any(o.get("drop_counts") == [0] for p in d["packets"] for o in p["options"])'
if command -v tshark >/dev/null; then
  export HOME=$work  # tshark wants one that it can read
  tshark -r "$work/send.pcap" -T fields -e frame.number -e dccp.srcport -e dccp.dstport \
    -e dccp.ccval -e dccp.cscov >"$work/theirs" 2>/dev/null
  "$dump" --fields number,src_port,dst_port,ccval,cscov "$work/send.pcap" >"$work/ours"
  diff "$work/theirs" "$work/ours" >"$work/diff" || fail "tshark differs: $(head "$work/diff")"
  tshark -r "$work/send.pcap" -o dccp.check_checksum:TRUE \
    -Y 'dccp.checksum.status == "Bad" || _ws.malformed' >"$work/bad" 2>/dev/null
  [[ ! -s $work/bad ]] || fail "tshark finds fault: $(head "$work/bad")"
fi

finish
