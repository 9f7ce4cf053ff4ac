#!/usr/bin/env bash
# Each kind of bad input ends with one clear line on the standard error, the right exit code, and
# the summary of what did happen.
source "$(dirname "$0")/lib.sh"

has_summary() {
  grep -q '^- - -' "$work/send.out" || fail "$1: no summary in: $(cat "$work/send.out")"
}

start_recv

run_send -t 1 no-such-host.invalid
expect "unresolvable host" 1 'cannot resolve no-such-host.invalid' "$work/send.err" dccp-send
has_summary "unresolvable host"

saved=$udp_port
udp_port=$((saved + 1))
run_send -t 1 127.0.0.1
expect "nothing on the UDP port" 1 'refused.*ICMP port unreachable' "$work/send.err" dccp-send
has_summary "nothing on the UDP port"
udp_port=$saved

saved=$dccp_port
dccp_port=$((saved == 5000 ? 5002 : 5000))
run_send -t 1 127.0.0.1
expect "nothing on the DCCP port" 1 'refused.*Reset 7 \(Connection Refused\)' "$work/send.err" dccp-send
has_summary "nothing on the DCCP port"
dccp_port=$saved

run_send -t 1 --service SC:WRNG 127.0.0.1
expect "wrong service code" 1 'SC:WRNG.*Reset 8 \(Bad Service Code\)' "$work/send.err" dccp-send
has_summary "wrong service code"

run_send -t 1 -s 65535 127.0.0.1
expect "payload too large" 1 '65535 bytes is larger than the [0-9]+ that fit' "$work/send.err" \
  dccp-send
has_summary "payload too large"

code=0
timeout 20 "$recv" --udp-port "$udp_port" -p "$dccp_port" >"$work/second.out" \
  2>"$work/second.err" || code=$?
expect "port in use" 1 "UDP port $udp_port is in use" "$work/second.err" dccp-recv

run_send -R -t 1 127.0.0.1
expect "reverse not allowed" 1 'does not send.*--reverse-ok' "$work/send.err" dccp-send

end_recv INT
[[ $code == 0 ]] || fail "interrupted receiver: exit code $code"

# Some stacks, Linux among them, refuse with Reset 3.
python3 "$(dirname "$0")/refuse.py" "$work/refuse.port" &
started+=($!)
for ((i = 0; i < 200; ++i)); do
  [[ -s $work/refuse.port ]] && break
  sleep 0.05
done
udp_port=$(cat "$work/refuse.port")
run_send -t 1 127.0.0.1
expect "refused" 1 'refused.*Reset 3 \(No Connection\)' "$work/send.err" dccp-send
has_summary "refused"

# Usage.
for arguments in '' '-s 0 h' '-t -3 h' '--ccid 9 h' '--ccid 5 h' '--ccid 250 h' '--encap tcp h' '--service abcdefgh h' \
  'h:0' '[::1' '-n 3 -t 3 h' '--no-such-option h' '-4 -6 h'; do
  code=0
  # shellcheck disable=SC2086  # the arguments are words
  "$send" $arguments >"$work/usage.out" 2>"$work/usage.err" || code=$?
  expect "usage '$arguments'" 2 '.' "$work/usage.err" dccp-send
done
code=0
"$send" --ccid 250 h 2>"$work/usage.err" || code=$?
expect "CCID that is not there" 2 '--ccid: CCID 250 is not available' "$work/usage.err" dccp-send
code=0
"$recv" --cookies maybe >"$work/usage.out" 2>"$work/usage.err" || code=$?
expect "no such use of cookies" 2 "--cookies: 'maybe' is none of" "$work/usage.err" dccp-recv
code=0
"$send" --input "$work/no-such-file" 127.0.0.1 >"$work/usage.out" 2>"$work/usage.err" || code=$?
expect "no input file" 1 'cannot read .*No such file' "$work/usage.err" dccp-send

finish
