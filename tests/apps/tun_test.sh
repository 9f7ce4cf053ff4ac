#!/usr/bin/env bash
# Native DCCP through TUN devices, in a network namespace of its own: two hosts of ours, and the
# kernel routes between them.
if [[ ${1:-} != inside ]]; then
  unshare -Urn true 2>/dev/null || {
    echo "skipped: no network namespaces for this user"
    exit 77
  }
  [[ -e /dev/net/tun ]] || {
    echo "skipped: no /dev/net/tun"
    exit 77
  }
  exec unshare -Urn bash "$0" inside
fi
source "$(dirname "$0")/lib.sh"

ip link set lo up
for n in 1 2; do
  ip tuntap add dev "tun$n" mode tun 2>"$work/tun.err" || skip "no TUN device: $(cat "$work/tun.err")"
  ip addr add "10.33.$n.1/24" dev "tun$n"
  [[ -e /proc/net/if_inet6 ]] && ip -6 addr add "fd33:$n::1/64" dev "tun$n" nodad
  # A busy host may keep a program from its device for a while: the queue loses nothing meanwhile.
  ip link set "tun$n" txqueuelen 10000 up
done
echo 1 >/proc/sys/net/ipv4/ip_forward
families=(4)
if [[ -e /proc/net/if_inet6 ]]; then
  families+=(6)
  echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
fi
declare -A server=([4]=10.33.1.2 [6]=fd33:1::2) client=([4]=10.33.2.2 [6]=fd33:2::2)
head -c 2000001 /dev/urandom >"$work/file"

for family in "${families[@]}"; do
  start_recv --encap native --tun tun1 --bind "${server[$family]}" -1 -o "$work/copy"
  run_send --encap native --tun tun2 --bind "${client[$family]}" --input "$work/file" -s 1200 \
    -b 20Mbit --trace "$work/send.pcap" "${server[$family]}"
  [[ $code == 0 ]] || fail "IPv$family: exit code $code: $(cat "$work/send.err")"
  wait "$receiver" || fail "IPv$family: $(cat "$work/recv.err")"
  cmp "$work/file" "$work/copy" ||
    fail "IPv$family: the file differs: $(cat "$work/send.out" "$work/recv.out")"
  "$dump" --check "$work/send.pcap" >"$work/dump.out" || fail "IPv$family: $(tail -n 3 "$work/dump.out")"
done

# A smaller MTU behind the router: it says so, and what was too large goes on in the right size.
ip link set tun1 mtu 1300
for family in "${families[@]}"; do
  start_recv --encap native --tun tun1 --bind "${server[$family]}" -1
  run_send --encap native --tun tun2 --bind "${client[$family]}" -t 2 -b 2Mbit --json="$work/send.json" \
    "${server[$family]}"
  [[ $code == 0 ]] || fail "MTU, IPv$family: exit code $code: $(cat "$work/send.err")"
  wait "$receiver" || fail "MTU, IPv$family: $(cat "$work/recv.err")"
  json "$work/send.json" "d['end']['received']['packets'] > 100"
done

udp_port=6511 dccp_port=5001
run_send --encap native --tun nosuch --bind 10.33.2.2 -t 1 10.33.1.2
expect "no such device" 1 "ip tuntap add" "$work/send.err" dccp-send
run_send --encap native --tun tun2 -t 1 10.33.1.2
expect "no address" 2 "needs --bind" "$work/send.err" dccp-send
run_send --tun tun2 --bind 10.33.2.2 -t 1 10.33.1.2
expect "not native" 2 "native only" "$work/send.err" dccp-send
ip link set tun2 down
run_send --encap native --tun tun2 --bind 10.33.2.2 -t 1 10.33.1.2
expect "device down" 1 "is down" "$work/send.err" dccp-send
finish
