#!/usr/bin/env bash
# A peer that dies in mid-run, a full disk, a route that is not there, a missing privilege.
source "$(dirname "$0")/lib.sh"

# The receiver dies.
start_recv
"$send" --udp-port "$udp_port" -p "$dccp_port" --timeout 2 -t 60 -b 20Mbit -s 1000 \
  --json="$work/killed.json" 127.0.0.1 >"$work/send.out" 2>"$work/send.err" &
sender=$!
started+=("$sender")
for ((i = 0; i < 400; ++i)); do
  grep -q '0.00-1.0' "$work/send.err" && break
  sleep 0.05
done
end_recv KILL
code=0
wait "$sender" || code=$?
expect "receiver killed" 1 'lost: the peer stopped answering' "$work/send.err" dccp-send
json "$work/killed.json" 'd["end"]["sent"]["packets"] > 100'
json "$work/killed.json" 'd["end"]["close"]["by"] == "timeout"'
json "$work/killed.json" 'd["end"]["received"]["packets"] is None'
json "$work/killed.json" 'd["error"] is not None'

# The sender dies.
start_recv -1 --timeout 2 --json="$work/orphan.json"
"$send" --udp-port "$udp_port" -p "$dccp_port" -t 60 -b 20Mbit -s 1000 127.0.0.1 >"$work/send.out" \
  2>"$work/send.err" &
sender=$!
started+=("$sender")
for ((i = 0; i < 400; ++i)); do
  grep -q '0.00-1.0' "$work/send.out" && break
  sleep 0.05
done
kill -9 "$sender"
wait "$sender" 2>/dev/null || true
code=0
wait "$receiver" || code=$?
expect "sender killed" 1 'lost: the peer stopped answering' "$work/recv.err" dccp-recv
json "$work/orphan.json" 'd["end"]["received"]["packets"] > 100'

# The output cannot be written.
if [[ -c /dev/full ]]; then
  start_recv -1 -o /dev/full
  run_send -n 100 -s 1000 127.0.0.1
  code=0
  wait "$receiver" || code=$?
  expect "full disk" 1 'cannot write /dev/full: (No space|no space)' "$work/recv.err" dccp-recv
  grep -q received "$work/recv.out" || fail "full disk: no summary"
  # Each line of the report fails, the last one long before the end.
  start_recv -1
  code=0
  "$send" --udp-port "$udp_port" -p "$dccp_port" -n 1 127.0.0.1 >/dev/full 2>"$work/send.err" ||
    code=$?
  expect "full disk under the report" 1 'cannot write the report: No space' "$work/send.err" dccp-send
fi

# No route: a network namespace without any.
if unshare -rn true 2>/dev/null; then
  code=0
  timeout 60 unshare -rn "$send" -t 1 192.0.2.1 >"$work/send.out" 2>"$work/send.err" || code=$?
  expect "no route" 1 'no route' "$work/send.err" dccp-send
fi

# No privilege for raw sockets.
drop=()
if ((EUID == 0)); then drop=(setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all); fi
if "${drop[@]}" test -x "$send"; then
  code=0
  "${drop[@]}" "$send" --encap native -t 1 127.0.0.1 >"$work/send.out" 2>"$work/send.err" || code=$?
  expect "no CAP_NET_RAW" 1 'CAP_NET_RAW' "$work/send.err" dccp-send
fi

finish
