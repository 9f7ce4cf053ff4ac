#!/usr/bin/env bash
# dccp-netem as a relay: the path it emulates is the one that connections see; counters, clients,
# wildcard addresses, interrupts and bad input.
source "$(dirname "$0")/lib.sh"
netem=$UDCCP_BIN/dccp-netem

# start_netem OPTION...: a relay to the receiver; sets relay and relay_port.
start_netem() {
  local waited
  rm -f "$work/netem.stream"
  "$netem" udp --to "$target:$udp_port" --json="$work/netem.json" \
    --json-stream="$work/netem.stream" "$@" >"$work/netem.out" 2>"$work/netem.err" &
  relay=$!
  started+=("$relay")
  for ((waited = 0; waited < 400; ++waited)); do
    grep -qs '"start"' "$work/netem.stream" && break
    sleep 0.05
  done
  relay_port=$(sed -n 's/.*"listen_port":\([0-9]*\).*/\1/p' "$work/netem.stream")
  [[ -n $relay_port ]] || fail "the relay does not start: $(cat "$work/netem.err")"
}
end_netem() {
  kill "-${1:-INT}" "$relay"
  code=0
  wait "$relay" || code=$?
  [[ $code == 0 ]] || fail "interrupted relay: exit code $code: $(cat "$work/netem.err")"
}
# send_through OPTION... HOST: dccp-send to the relay.
send_through() {
  local saved=$udp_port
  udp_port=$relay_port
  run_send "$@"
  udp_port=$saved
  [[ $code == 0 ]] || fail "dccp-send $*: exit code $code: $(cat "$work/send.err")"
}

target=127.0.0.1
start_recv
start_netem --listen 127.0.0.1 --fwd-delay 30ms --rev-delay 20ms --fwd-loss 5% --ecn-mark 2% --seed 7
send_through -t 3 -b 4Mbit -s 1000 --json="$work/send.json" 127.0.0.1
end_netem TERM
json "$work/send.json" "50 <= d['end']['rtt_ms']['min'] < 60"
json "$work/send.json" "d['end']['received']['lost_packets'] > 0"
json "$work/netem.json" "d['start']['seed'] == 7 and d['start']['forward']['loss'] == 0.05"
json "$work/netem.json" "d['end']['forward']['lost'] > 0 and d['end']['reverse']['lost'] == 0"
json "$work/netem.json" "d['end']['forward']['marked'] > 0"
json "$work/netem.json" "d['end']['clients'] >= 1"
json "$work/netem.json" "all(c['offered'] + c['duplicated'] >= c['delivered'] + c['lost']
  for c in (d['end']['forward'], d['end']['reverse']))"
json "$work/netem.json" "d['end']['delay_error_ms']['median'] < 5"

# A rate that is a bottleneck: what arrives is what it carries, and RED marks instead of dropping.
start_netem --listen 127.0.0.1 --delay 5ms --fwd-rate 2Mbit --fwd-queue 30 --fwd-red 5,20,0.1 \
  --fwd-red-ecn --interval 0.5
send_through -t 3 --omit 1 -s 1000 --json="$work/send.json" 127.0.0.1
end_netem
json "$work/send.json" "1.5e6 < d['end']['received']['bits_per_second'] < 2e6"
json "$work/netem.json" "d['end']['forward']['marked'] > 0 and d['end']['forward']['red_dropped'] == 0"
json "$work/netem.json" "len(d['intervals']) >= 3"

# IPv6, and from one family to the other; everything is bound to any address.
if [[ -e /proc/net/if_inet6 ]]; then
  start_netem --listen '[::]' --delay 2ms
  send_through -t 1 -b 1Mbit ::1
  end_netem
fi
start_netem --listen 0.0.0.0 --delay 2ms
# The answers have to come from where the client sent to.
send_through -t 1 -b 1Mbit 127.0.0.2
end_netem

# One client at a time: the second has to wait until the first is forgotten.
start_netem --listen 127.0.0.1 --idle 0.3 --max-clients 1
send_through -n 1 127.0.0.1
send_through -n 1 127.0.0.1
end_netem
json "$work/netem.json" "d['end']['clients'] >= 2"
end_recv INT

# Reordering and duplicates: what the receiver takes is what was sent, each once.
start_recv -1 --hashes "$work/got"
start_netem --listen 127.0.0.1 --delay 3ms,2ms --jitter-reorders --reorder 2%,2ms --duplicate 2%
send_through -t 2 -b 4Mbit -s 800 --hashes "$work/sent" 127.0.0.1
end_netem
wait "$receiver" || fail "the receiver ends with $?: $(cat "$work/recv.err")"
json "$work/netem.json" "all(d['end']['forward'][n] > 0 for n in ('duplicated', 'reordered'))"
[[ $(wc -l <"$work/got") -gt 500 ]] || fail "few datagrams arrived: $(wc -l <"$work/got")"
awk '{print $NF}' "$work/got" | sort >"$work/got.sorted"
awk '{print $NF}' "$work/sent" | sort >"$work/sent.sorted"
[[ -z $(uniq -d "$work/got.sorted") ]] || fail "a datagram was taken twice"
[[ -z $(comm -23 "$work/got.sorted" "$work/sent.sorted") ]] || fail "a datagram was taken that was not sent"

# Usage, and what cannot be.
for arguments in '' 'udp' 'udp --listen h' 'udp --listen h --to h' 'tunnel' \
  'udp --listen h --to h:5 --loss 2' 'udp --listen h --to h:5 --queue 10' \
  'udp --listen h --to h:5 --delay -1' 'udp --listen h --to h:5 --rate fast' \
  'udp --listen h --to h:5 --grain 1s' 'bridge a' 'bridge a a'; do
  code=0
  # shellcheck disable=SC2086  # the arguments are words
  "$netem" $arguments >"$work/usage.out" 2>"$work/usage.err" || code=$?
  expect "usage '$arguments'" 2 '.' "$work/usage.err" dccp-netem
done
# try NAME PATTERN ARGUMENT...
try() {
  local name=$1 pattern=$2
  shift 2
  code=0
  timeout 20 "$netem" "$@" >"$work/usage.out" 2>"$work/usage.err" || code=$?
  expect "$name" 1 "$pattern" "$work/usage.err" dccp-netem
}
try "no such host" 'cannot resolve' udp --listen no-such-host.invalid --to 127.0.0.1:5
try "not this host's" 'bind 192.0.2.77' udp --listen 192.0.2.77:4000 --to 127.0.0.1:5
try "no such file" 'cannot write /no/such' udp --listen 127.0.0.1 --to 127.0.0.1:5 --json=/no/such
try "no interfaces" 'CAP_NET_RAW|no interface' bridge nosuch1 nosuch2
start_recv
try "port in use" 'in use' udp --listen "127.0.0.1:$udp_port" --to 127.0.0.1:5
end_recv INT
finish
