#!/usr/bin/env bash
# dccp-netem as bridge and router between two hosts, each in a network namespace of its own: native
# DCCP and DCCP in UDP, both families, what leaves when the program is killed.
if [[ ${1:-} != inside ]]; then
  unshare -Urn true 2>/dev/null || {
    echo "skipped: no network namespaces for this user"
    exit 77
  }
  exec unshare -Urn bash "$0" inside
fi
source "$(dirname "$0")/lib.sh"
netem=$UDCCP_BIN/dccp-netem

ip link set lo up
unshare -n sleep 600 &
near=$!
unshare -n sleep 600 &
far=$!
started+=("$near" "$far")
# on PID COMMAND...: in the namespace of a process.
on() { nsenter -t "$1" -n "${@:2}"; }
for ((i = 0; i < 200; ++i)); do
  [[ $(readlink "/proc/$near/ns/net") != "$(readlink /proc/self/ns/net)" &&
    $(readlink "/proc/$far/ns/net") != "$(readlink /proc/self/ns/net)" ]] && break
  sleep 0.05
done
ip link add link1 type veth peer name host1 2>"$work/veth.err" || skip "no veth: $(cat "$work/veth.err")"
ip link add link2 type veth peer name host2
ip link set host1 netns "$near"
ip link set host2 netns "$far"
families=(4)
[[ -e /proc/net/if_inet6 ]] && families+=(6)
for pid in "$near" "$far"; do on "$pid" ip link set lo up; done
ip link set link1 up
ip link set link2 up
on "$near" ip link set host1 up
on "$far" ip link set host2 up

# addresses MODE: the hosts in one network, or in two with gateways.
declare -A server
addresses() {
  local two=1
  [[ $1 == router ]] && two=2
  ip addr flush dev link1 scope global
  ip addr flush dev link2 scope global
  on "$near" ip addr flush dev host1 scope global
  on "$far" ip addr flush dev host2 scope global
  on "$near" ip addr add 10.77.1.1/24 dev host1
  on "$far" ip addr add "10.77.$two.2/24" dev host2
  server[4]=10.77.$two.2
  server[6]=fd77:$two::2
  if ((${#families[@]} > 1)); then
    on "$near" ip addr add fd77:1::1/64 dev host1 nodad
    on "$far" ip addr add "fd77:$two::2/64" dev host2 nodad
  fi
  [[ $1 == router ]] || return 0
  ip addr add 10.77.1.254/24 dev link1
  ip addr add 10.77.2.254/24 dev link2
  on "$near" ip route replace default via 10.77.1.254
  on "$far" ip route replace default via 10.77.2.254
  ((${#families[@]} > 1)) || return 0
  ip addr add fd77:1::fe/64 dev link1 nodad
  ip addr add fd77:2::fe/64 dev link2 nodad
  on "$near" ip -6 route replace default via fd77:1::fe
  on "$far" ip -6 route replace default via fd77:2::fe
}

start_netem() {
  local waited
  "$netem" "$@" --json="$work/netem.json" >"$work/netem.out" 2>"$work/netem.err" &
  emulator=$!
  started+=("$emulator")
  for ((waited = 0; waited < 400; ++waited)); do
    grep -Eqs '^(Bridging|Routing)' "$work/netem.out" && return 0
    kill -0 "$emulator" 2>/dev/null || break
    sleep 0.05
  done
  fail "dccp-netem $*: $(cat "$work/netem.err")"
}
end_netem() {
  kill "-${1:-INT}" "$emulator"
  code=0
  wait "$emulator" || code=$?
  [[ $code == 0 ]] || fail "interrupted dccp-netem: exit code $code: $(cat "$work/netem.err")"
}
# transfer FAMILY OPTION...: from near to far; the summary is in $work/send.json.
transfer() {
  local family=$1 waited
  shift
  rm -f "$work/recv.out"
  on "$far" "$recv" -1 "$@" >"$work/recv.out" 2>"$work/recv.err" &
  receiver=$!
  started+=("$receiver")
  for ((waited = 0; waited < 400; ++waited)); do
    grep -qs '^Listening' "$work/recv.out" && break
    sleep 0.05
  done
  code=0
  on "$near" timeout 60 "$send" --timeout 5 -t 2 -b 4Mbit --json="$work/send.json" "$@" \
    "${server[$family]}" >"$work/send.out" 2>"$work/send.err" || code=$?
  [[ $code == 0 ]] || fail "IPv$family $*: exit code $code: $(cat "$work/send.err")"
  wait "$receiver" || fail "IPv$family $*: receiver: $(cat "$work/recv.err")"
}

for mode in bridge router; do
  addresses "$mode"
  start_netem "$mode" link1 link2 --delay 15ms --fwd-loss 3% --fwd-ecn-mark 2%
  for family in "${families[@]}"; do
    for encap in native udp; do
      transfer "$family" --encap "$encap"
      json "$work/send.json" "30 <= d['end']['rtt_ms']['min'] < 45"
      json "$work/send.json" "d['end']['received']['lost_packets'] > 0"
      json "$work/send.json" "d['end']['received']['packets'] > 50"
    done
  done
  end_netem
  json "$work/netem.json" "d['end']['forward']['lost'] > 0 and d['end']['reverse']['lost'] == 0"
  json "$work/netem.json" "d['end']['forward']['marked'] > 0"
  json "$work/netem.json" "d['end']['forward']['refused'] == 0 and d['end']['forward']['too_big'] == 0"
done

# Flipped bits behind the IP header: what native DCCP's checksum finds is as if lost.
addresses bridge
start_netem bridge link1 link2 --delay 2ms --fwd-corrupt 3%
for family in "${families[@]}"; do
  transfer "$family" --encap native
  json "$work/send.json" "d['end']['received']['lost_packets'] > 0"
done
end_netem
json "$work/netem.json" "d['end']['forward']['corrupted'] > 0"

addresses router

# The router tells of its MTU, and of packets that have come too far.
start_netem router link1 link2 --delay 2ms --mtu 1300
for family in "${families[@]}"; do
  transfer "$family" --encap native
  json "$work/send.json" "d['end']['received']['packets'] > 50"
done
end_netem
json "$work/netem.json" "d['end']['icmp_sent'] > 0 and d['end']['forward']['too_big'] > 0"

# Wrong use. Killed, it leaves nothing behind that hinders the next.
try() {
  local name=$1 pattern=$2
  shift 2
  code=0
  timeout 20 "$netem" "$@" >"$work/usage.out" 2>"$work/usage.err" || code=$?
  expect "$name" 1 "$pattern" "$work/usage.err" dccp-netem
}
try "no interface" 'no interface nosuch' bridge link1 nosuch
try "not Ethernet" 'lo is no Ethernet' bridge link1 lo
echo 1 >/proc/sys/net/ipv4/conf/link1/forwarding
try "the kernel forwards" 'sysctl -w net.ipv4.conf.link1.forwarding=0' router link1 link2
echo 0 >/proc/sys/net/ipv4/conf/link1/forwarding
start_netem router link1 link2
kill -9 "$emulator"
wait "$emulator" 2>/dev/null || true
start_netem router link1 link2
transfer 4 --encap udp
ip link delete link2
code=0
wait "$emulator" || code=$?
expect "interface gone" 1 'link2 is gone' "$work/netem.err" dccp-netem
json "$work/netem.json" "d['end']['forward']['delivered'] > 0"
ip link add link2 type veth peer name host3
try "interface down" 'link2 is down.*ip link set link2 up' bridge link1 link2
ip link set link2 up
try "no address" 'link2 has no IP address' router link1 link2
finish
