#!/usr/bin/env bash
# The JSON documents are valid and have the fields of the contract.
source "$(dirname "$0")/lib.sh"

cat >"$work/contract.py" <<'PYTHON'
import json, sys

START = ["local", "remote", "encap", "family", "ccid_tx", "ccid_rx", "negotiated", "service_code",
         "mps_bytes", "payload_bytes", "time"]
INTERVAL = ["start_s", "end_s", "packets", "bytes", "bits_per_second", "lost_packets", "rtt_ms",
            "loss_event_rate"]
END = {"seconds": None, "sent": ["packets", "bytes", "bits_per_second"],
       "received": ["packets", "bytes", "bits_per_second", "lost_packets", "lost_percent",
                    "out_of_order", "duplicates", "jitter_ms"],
       "cpu": ["local_percent", "remote_percent", "local_us_per_packet", "remote_us_per_packet"],
       "rtt_ms": ["min", "mean", "max"], "loss_event_rate": None,
       "equation_bits_per_second": None, "ratio_to_equation": None, "dropped": [],
       "close": ["by", "reset_code", "reset_name"]}

def check(d, tool, started=True):
    assert d["tool"] == tool and d["version"]
    if started:
        for key in START:
            assert key in d["start"], key
        for feature in d["start"]["negotiated"].values():
            assert set(feature) == {"local", "remote"}
        for interval in d["intervals"]:
            for key in INTERVAL:
                assert key in interval, key
            assert "cwnd_packets" in interval or "x_bits_per_second" in interval
    for key, inner in END.items():
        assert key in d["end"], key
        for name in inner or []:
            assert name in d["end"][key], (key, name)

if __name__ == "__main__":
    check(json.load(open(sys.argv[1])), sys.argv[2], len(sys.argv) < 4)
PYTHON
contract() { python3 "$work/contract.py" "$@" || fail "contract: $*"; }

start_recv --reverse-ok --json="$work/recv.json" --json-stream="$work/recv.jsonl"
run_send -t 2 -i 0.5 -s 500 -b 4Mbit --json --expect-rtt 10ms --expect-loss 1% 127.0.0.1
[[ $code == 0 ]] || fail "send: exit code $code: $(cat "$work/send.err")"
contract "$work/send.out" dccp-send
json "$work/send.out" 'd["start"]["family"] == "ipv4" and d["start"]["encap"] == "udp"'
json "$work/send.out" 'd["start"]["payload_bytes"] == 500 and d["start"]["service_code"] == "SC:PERF"'
json "$work/send.out" 'd["start"]["ccid_tx"] == 2 and d["start"]["ccid_rx"] == 2'
json "$work/send.out" '3 <= len(d["intervals"]) <= 5'
json "$work/send.out" '1.9 < d["end"]["seconds"] < 4'
json "$work/send.out" 'd["end"]["sent"]["packets"] > 0'
json "$work/send.out" 'd["end"]["received"]["packets"] <= d["end"]["sent"]["packets"]'
json "$work/send.out" 'd["end"]["cpu"]["remote_percent"] is not None'
json "$work/send.out" 'abs(d["end"]["equation_bits_per_second"] / 4493290 - 1) < 0.001'
json "$work/send.out" 'd["end"]["close"] == {"by": "local", "reset_code": 1, "reset_name": "Closed"}'

# One line an event.
run_send -n 50 -s 100 --json-stream 127.0.0.1
python3 - "$work/send.out" <<'PYTHON' || fail "json-stream: $(cat "$work/send.out")"
import json, sys
events = [json.loads(line)["event"] for line in open(sys.argv[1])]
assert events[0] == "start" and events[-1] == "end", events
PYTHON

# The other direction, and several connections.
run_send -R -n 500 -s 300 -i 0 --json="$work/reverse.json" 127.0.0.1
[[ $code == 0 ]] || fail "reverse: exit code $code: $(cat "$work/send.err")"
contract "$work/reverse.json" dccp-send
json "$work/reverse.json" 'd["end"]["sent"]["packets"] == 500'
json "$work/reverse.json" '500 - d["end"]["received"]["packets"] == d["end"]["received"]["lost_packets"]'
run_send -P 3 -n 100 -s 300 -b 1Mbit --json="$work/parallel.json" 127.0.0.1
[[ $code == 0 ]] || fail "parallel: exit code $code: $(cat "$work/send.err")"
contract "$work/parallel.json" dccp-send
json "$work/parallel.json" 'len(d["connections"]) == 3 and d["end"]["sent"]["packets"] == 300'

end_recv TERM
[[ $code == 0 ]] || fail "receiver: exit code $code"
contract "$work/recv.json" dccp-recv
json "$work/recv.json" 'len(d["connections"]) == 6'
json "$work/recv.json" 'd["end"]["received"]["packets"] > 0'

# Nobody there: the document says so.
udp_port=$((udp_port + 1))
run_send -t 1 --json="$work/nobody.json" 127.0.0.1
[[ $code == 1 ]] || fail "nobody: exit code $code"
contract "$work/nobody.json" dccp-send not-started
json "$work/nobody.json" 'd["start"] is None and d["end"]["sent"]["packets"] == 0'
json "$work/nobody.json" 'd["end"]["close"]["by"] == "unreachable" and "refused" in d["error"]'

# An interrupt ends the run cleanly, with its summary.
start_recv -1
"$send" --udp-port "$udp_port" -p "$dccp_port" -t 60 -b 2Mbit -s 500 --json="$work/int.json" \
  127.0.0.1 >"$work/send.out" 2>"$work/send.err" &
sender=$!
started+=("$sender")
for ((i = 0; i < 400; ++i)); do
  grep -q '0.00-1.0' "$work/send.err" && break
  sleep 0.05
done
kill -INT "$sender"
code=0
wait "$sender" || code=$?
[[ $code == 0 ]] || fail "interrupt: exit code $code: $(cat "$work/send.err")"
json "$work/int.json" 'd["end"]["sent"]["packets"] > 0 and d["end"]["close"]["by"] == "local"'
wait "$receiver" || fail "interrupt: receiver failed: $(cat "$work/recv.err")"

finish
