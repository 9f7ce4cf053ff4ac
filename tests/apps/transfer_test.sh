#!/usr/bin/env bash
# Files and pipes arrive complete and in order at a rate below the path's; what arrives is intact.
source "$(dirname "$0")/lib.sh"

hosts=(127.0.0.1)
[[ -e /proc/net/if_inet6 ]] && grep -q '^0\{31\}1 ' /proc/net/if_inet6 && hosts+=(::1)
head -c 3000001 /dev/urandom >"$work/file"

for host in "${hosts[@]}"; do
  start_recv -1 -o "$work/copy" --hashes "$work/recv.hashes"
  run_send --input "$work/file" -s 1300 -b 20Mbit --hashes "$work/send.hashes" "$host"
  [[ $code == 0 ]] || fail "file to $host: exit code $code: $(cat "$work/send.err")"
  code=0
  wait "$receiver" || code=$?
  [[ $code == 0 ]] || fail "file from $host: exit code $code: $(cat "$work/recv.err")"
  cmp "$work/file" "$work/copy" || fail "file to $host differs"
  cmp "$work/send.hashes" "$work/recv.hashes" || fail "hashes to $host differ"
  [[ $(wc -l <"$work/send.hashes") == 2308 ]] || fail "3000001 bytes are not 2308 datagrams"
done

# The receiver keeps no half-open connections.
start_recv -1 -o "$work/copy" --cookies always --trace "$work/trace.pcap"
run_send --input "$work/file" -s 1300 -b 20Mbit 127.0.0.1
[[ $code == 0 ]] || fail "file with cookies: exit code $code: $(cat "$work/send.err")"
wait "$receiver" || fail "file with cookies: $(cat "$work/recv.err")"
cmp "$work/file" "$work/copy" || fail "file with cookies differs"
(($("$dump" "$work/trace.pcap" | grep -c 'Init Cookie') >= 2)) || fail "no cookie went both ways"

# A pipe in and a pipe out, datagram boundaries kept; an empty one among them.
python3 - >"$work/framed" <<'PYTHON'
import sys
for size in [1, 1000, 0, 17, 1200, 2]:
    sys.stdout.buffer.write(size.to_bytes(4, "big") + bytes([size % 251]) * size)
PYTHON
start_recv -1 -o - --framed
# shellcheck disable=SC2002  # a pipe is wanted
cat "$work/framed" | "$send" --udp-port "$udp_port" -p "$dccp_port" --timeout 5 --input - --framed \
  127.0.0.1 >"$work/send.out" 2>"$work/send.err" || fail "framed pipe: $(cat "$work/send.err")"
wait "$receiver" || fail "framed pipe: $(cat "$work/recv.err")"
cmp "$work/framed" "$work/recv.out" || fail "framed pipe differs"

# A slow pipe: the first part arrives long before the last.
start_recv -1 -o "$work/slow"
{
  echo first
  sleep 1
  echo last
} | "$send" --udp-port "$udp_port" -p "$dccp_port" --timeout 5 -s 4 --input - 127.0.0.1 \
  >"$work/send.out" 2>"$work/send.err" || fail "slow pipe: $(cat "$work/send.err")"
wait "$receiver" || fail "slow pipe: $(cat "$work/recv.err")"
[[ $(cat "$work/slow") == $'first\nlast' ]] || fail "slow pipe: $(cat "$work/slow")"

# With whatever loss full speed brings: exactly what the receiver reports, each one intact.
start_recv -1 --hashes "$work/recv.hashes" --json="$work/recv.json"
run_send -n 20000 -s 700 --hashes "$work/send.hashes" --json="$work/send.json" 127.0.0.1
wait "$receiver" || fail "full speed: $(cat "$work/recv.err")"
python3 - "$work" <<'PYTHON' || fail "full speed: hashes and figures disagree"
import json, sys
work = sys.argv[1]
def hashes(name):
    return [line.split(" ", 1)[1] for line in open(f"{work}/{name}.hashes")]
sent, received = hashes("send"), hashes("recv")
there = json.load(open(f"{work}/recv.json"))["end"]["received"]
here = json.load(open(f"{work}/send.json"))["end"]
assert len(sent) == here["sent"]["packets"] == 20000, (len(sent), here)
assert len(received) == there["packets"] == here["received"]["packets"], (len(received), there, here)
assert len(set(sent)) == 20000
assert set(received) <= set(sent) and len(set(received)) == len(received)
assert here["received"]["lost_packets"] == 20000 - len(received)
PYTHON

finish
