#!/usr/bin/env bash
# dccp-lab forward: bridge and router, with and without rules; what an interrupt and a kill leave;
# --resume; compare; bad input.
source "$(dirname "$0")/lib.sh"
lab=$UDCCP_BIN/dccp-lab
code=0
"$lab" forward --only nosuch --out "$work/x" >/dev/null 2>"$work/lab.err" || code=$?
expect "no such cell" 2 'no cell has such an id' "$work/lab.err" dccp-lab
for arguments in '--sizes 63' '--sizes 1519' '--topology relay' '--firewall pf' '--traffic tcp' \
  '--max-loss 2' '--seconds x' '--rules -1' '--rules 0 --firewall nft' '-6 --sizes 64'; do
  code=0
  # shellcheck disable=SC2086  # the arguments are words
  "$lab" forward $arguments --out "$work/x" >"$work/usage.out" 2>"$work/usage.err" || code=$?
  expect "usage '$arguments'" 2 '.' "$work/usage.err" dccp-lab
done

unshare -n true 2>/dev/null || unshare -Urn true 2>/dev/null || {
  code=0
  "$lab" forward --out "$work/x" >/dev/null 2>"$work/lab.err" || code=$?
  expect "no privileges" 1 'run as root, or allow user namespaces' "$work/lab.err" dccp-lab
  finish
}
# A tool that is not there is said, with what to do; asked for by name it is an error.
mkdir "$work/empty"
if ! [[ -x /usr/sbin/nft || -x /sbin/nft || -x /usr/local/sbin/nft ]]; then
  code=0
  PATH=$work/empty "$lab" forward --firewall nft --out "$work/x" >/dev/null 2>"$work/lab.err" || code=$?
  expect "no nft" 1 'install nftables' "$work/lab.err" dccp-lab
fi
firewalls=none
cells=2
if command -v nft >/dev/null || [[ -x /usr/sbin/nft ]]; then
  firewalls=none,nft
  cells=3
fi

only=bridge-none-plain-1518,router-none-udp-64,bridge-nft-udp-64
interfaces=$(ls /sys/class/net)
options=(forward --sizes 64,1518 --seconds 0.3 --omit 0.1 --max-loss 20% --out "$work/out")
"$lab" "${options[@]}" --firewall "$firewalls" --rules 20 --only "$only" --repeat 1 \
  >"$work/lab.out" 2>"$work/lab.err" || fail "forward: $(cat "$work/lab.err")"
result=$work/out/results.json
json "$result" "len(d['cells']) == $cells and all(len(c['runs']) == 1 for c in d['cells'])"
# What passed between is the frames that were meant, one by one: those of data are most of them.
json "$result" "all(c['frame_bytes'] - 8 < c['runs'][0]['blast']['between']['mean_frame_bytes']
  < c['frame_bytes'] + 24 for c in d['cells'])"
json "$result" "all(c['runs'][0]['blast']['received']['bits_per_second'] > 0 for c in d['cells'])"
json "$result" "all(c['runs'][0]['blast']['cpu'][k] > 0 for c in d['cells'] for k in
  ('local_percent', 'remote_percent', 'host_percent', 'host_us_per_packet'))"
json "$result" "all(c['runs'][0]['received']['lost_percent'] <= 20 for c in d['cells'])"
grep -Eq '^v4-bridge-none-plain +- +[0-9.]+$' "$work/lab.out" || fail "no table: $(cat "$work/lab.out")"

# Killed, and interrupted, in the next run: results stay, nothing else does.
for signal in KILL INT; do
  "$lab" "${options[@]}" --firewall "$firewalls" --rules 20 --only "$only" --repeat 30 \
    --resume >"$work/lab.out" 2>"$work/lab.err" &
  pid=$!
  started+=("$pid")
  namespace=
  for ((i = 0; i < 600; ++i)); do
    for child in $(pgrep -P "$pid" || true); do
      found=$(readlink "/proc/$child/ns/net" || true)
      [[ -z $found || $found == "$(readlink /proc/self/ns/net)" ]] || namespace=$found
    done
    [[ -n $namespace ]] && break
    sleep 0.02
  done
  if [[ -z $namespace ]]; then
    fail "$signal: no program in a namespace"
    namespace=none
  fi
  kill "-$signal" "$pid"
  code=0
  wait "$pid" 2>/dev/null || code=$?
  [[ $signal != INT ]] || expect "interrupted" 1 'interrupted; --resume' "$work/lab.err" dccp-lab
  for ((i = 0; i < 200; ++i)); do
    [[ -z $(ls -l /proc/[0-9]*/ns/net 2>/dev/null | grep -F "$namespace" || true) ]] && break
    sleep 0.05
  done
  ((i < 200)) || fail "$signal: a program is left in the namespace"
  [[ $(ls /sys/class/net) == "$interfaces" ]] || fail "$signal: interfaces are left"
  json "$result" "all(len(c['runs']) >= 1 for c in d['cells'])"
done

"$lab" compare "$result" "$result" --json >"$work/compare.json" || fail "compare fails"
json "$work/compare.json" "any(r['figure'] == 'blast, Mbit/s' for r in d['rows'])"
finish
