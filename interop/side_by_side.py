#!/usr/bin/env python3
"""The stack and the kernel side by side, through the same netem in the same guest.

usage: side_by_side.py --bin FOLDER [--part tfrc|throughput] [--scale X] [--keep FOLDER]

tfrc: CCID 3 over the three published paths, the kernel at both ends and the stack at both ends,
  against the throughput equation (RFC 5348 §3.1) and against what an ideal TFRC reaches there.
throughput: every combination of ends over a path that is the limit, and over one where the CPU of
  the guest is; the ratio to kernel and kernel.
--scale multiplies the length of the runs. It needs a machine with two idle cores, for 25 minutes:
a guest that has to wait for its turn measures that.
"""

import argparse
import math
import statistics
import sys

from lib import cells, guest
from lib.checks import event

SIZE = 1400
OMIT = 10  # seconds at the start that do not count
# name, RTT, loss, ideal sending rate / equation, flows side by side, jobs, seconds. The flows
# together stay below 600 packets a second, which a guest carries without delaying them.
TFRC_PATHS = (
    ("40 ms, 1 %", 0.040, 0.01, 1.04, 2, 3, 60),
    ("150 ms, 1 %", 0.150, 0.01, 1.04, 6, 9, 110),
    ("150 ms, 10 %", 0.150, 0.10, 1.07, 27, 2, 110),
)
# name, netem towards the receiver, netem back, CCID, least ratio to kernel and kernel
THROUGHPUT_PATHS = (
    ("8 Mbit/s, 20 ms, CCID 2", "limit 60 delay 10ms rate 8mbit", "delay 10ms", 2, 0.95),
    ("8 Mbit/s, 20 ms, CCID 3", "limit 60 delay 10ms rate 8mbit", "delay 10ms", 3, 0.95),
    ("CPU of the guest, 4 ms, CCID 2", "delay 2ms", "delay 2ms", 2, 0.5),
    ("CPU of the guest, 4 ms, CCID 3", "delay 2ms", "delay 2ms", 3, 0.5),
)
COMBINATIONS = (("kernel", "kernel"), ("stack", "kernel"), ("kernel", "stack"), ("stack", "stack"))


def equation(rtt, loss, size=SIZE):
    """Bytes a second. RFC 5348 §3.1, with b = 1 and t_RTO = 4 R."""
    return size / (rtt * math.sqrt(2 * loss / 3) +
                   4 * rtt * 3 * math.sqrt(3 * loss / 8) * loss * (1 + 32 * loss**2))


def address(kind, host, flow):
    """IPv6; each process of the stack has a TUN device of its own."""
    if kind == "kernel" or flow == 0:
        return cells.ADDRESS[kind, host, "v6"]
    return f"fd33:1{'AB'.index(host) + 1}:0:{flow:x}::2"


def peer(kind, end, ccid, port, seconds, flow):
    name = f"{end}-{flow}"
    ours = kind[0 if end == "client" else 1] == "stack"
    argv = ["{bin}/stack_peer", "--tun", f"tun{flow}"] if ours \
        else ["{bin}/kernel_peer", "--queue", "100", "--buffer", "2000000"]
    argv += ["--ccids", str(ccid), "--wait", "30"]
    server = address(kind[1], "B", flow)
    if end == "server":
        argv += ["--expect", "--omit", str(OMIT if seconds > 30 else 4), "listen", server]
        return {"name": name, "at": "B", "argv": argv + [str(port)], "after": "listening"}
    argv += ["--seconds", str(seconds), "--size", str(SIZE)]
    if kind[0] == "stack":
        argv += ["--bind", address("stack", "A", flow)]
    return {"name": name, "at": "A", "argv": argv + ["connect", server, str(port)]}


def job(identity, kind, ccid, netem, flows, seconds, base):
    clients = [f"client-{n}" for n in range(flows)]
    return {
        "id": identity, "port": None, "path": netem, "limit": seconds + 90,
        "sysctl": {"net.dccp.default.seq_window": 1000}, "finale": [[0, "close", *clients]],
        "tuns": flows, "peers": [peer(kind, end, ccid, base + n, seconds, n)
                                 for end in ("server", "client") for n in range(flows)],
    }


def rates(result):
    """Bytes a second at each receiver."""
    found = []
    for note in result["notes"]:
        print(f"{result['id']}: {note}")
    for each in result["peers"]:
        ended = event(each, "end")
        if each["name"].startswith("server") and ended and ended["window_seconds"] > 0:
            found.append(ended["window_bytes"] / ended["window_seconds"])
    return found


def interval(values):
    """Half the width of the 95 % interval of the mean, relative to the mean."""
    if len(values) < 2:
        return math.inf
    return 1.96 * statistics.stdev(values) / math.sqrt(len(values)) / statistics.mean(values)


def run_jobs(args, jobs, count):
    with guest.Guests(args.bin, count, guest.UserMode(guest.kernel_path()), args.keep) as guests:
        guests.MEMORY_MIB = 1024
        guests.start(jobs)
        return {done["id"]: result for done, result in guests.results(jobs)}


def tfrc(args):
    jobs, base = [], 10000
    for index, (_, rtt, loss, _, flows, repeats, seconds) in enumerate(TFRC_PATHS):
        netem = {"ab": f"delay {rtt * 500:g}ms loss {loss * 100:g}%", "ba": f"delay {rtt * 500:g}ms"}
        for repeat in range(repeats):
            for kind in ("kernel", "stack"):
                jobs.append(job(f"tfrc-{index}-{kind}-{repeat}", (kind, kind), 3, netem, flows,
                                round(seconds * args.scale), base))
                base += flows
    results = run_jobs(args, jobs, 2)
    print(f"\nCCID 3, {SIZE} bytes, IPv6, one-way loss; sending rate over the equation, the mean of "
          "the runs with its 95 % interval\n")
    print(f"{'path':<14}{'equation':>13}{'ideal':>7}   {'kernel and kernel':<26}"
          f"{'stack and stack':<26}")
    deviations, good = {"kernel": [], "stack": []}, True
    for index, (name, rtt, loss, ideal, *_) in enumerate(TFRC_PATHS):
        row = f"{name:<14}{equation(rtt, loss) * 8 / 1000:>8.0f} kbps{ideal:>7.2f}   "
        for kind in ("kernel", "stack"):
            values = [rate / (1 - loss) / equation(rtt, loss) for key, result in results.items()
                      if key.startswith(f"tfrc-{index}-{kind}-") for rate in rates(result)]
            if not values:
                row += f"{'no result':<26}"
                good = False
                continue
            mean, half = statistics.mean(values), interval(values)
            deviations[kind].append(abs(mean / ideal - 1))
            row += f"{f'{mean:.3f} +- {half * 100:.1f} %, {len(values)} runs':<26}"
            if kind == "stack" and abs(mean / ideal - 1) > 0.10:
                row += " more than 10 % from the ideal"
                good = False
        print(row)
    means = {kind: statistics.mean(values or [math.inf]) for kind, values in deviations.items()}
    print(f"\nmean deviation from the ideal: kernel {means['kernel'] * 100:.1f} %, "
          f"stack {means['stack'] * 100:.1f} %")
    return good and means["stack"] <= means["kernel"]


def throughput(args):
    jobs, base = [], 20000
    for index, (_, ahead, back, ccid, _) in enumerate(THROUGHPUT_PATHS):
        for kind in COMBINATIONS:
            jobs.append(job(f"rate-{index}-{'-'.join(kind)}", kind, ccid, {"ab": ahead, "ba": back},
                            1, round(16 * args.scale), base))
            base += 1
    results = run_jobs(args, jobs, 1)
    print(f"\nThroughput, {SIZE} bytes, IPv6, sender and receiver; Mbit/s of payload, and the ratio "
          "to kernel and kernel\n")
    print(f"{'path':<32}" + "".join(f"{f'{a} to {b}':>24}" for a, b in COMBINATIONS))
    good = True
    for index, (name, _, _, _, least) in enumerate(THROUGHPUT_PATHS):
        row, base_rate = f"{name:<32}", None
        for kind in COMBINATIONS:
            values = rates(results[f"rate-{index}-{'-'.join(kind)}"])
            rate = values[0] * 8 / 1e6 if values else 0.0
            base_rate = base_rate or rate
            ratio = rate / base_rate if base_rate else 0.0
            row += f"{f'{rate:.2f} ({ratio:.2f})':>24}"
            if kind != ("stack", "stack") and ratio < least:
                good = False
                row += "!"
        print(f"{row}   at least {least}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--bin", required=True, help="the folder of the programs")
    parser.add_argument("--part", choices=("tfrc", "throughput"), help="only this part")
    parser.add_argument("--scale", type=float, default=1, help="length of the runs")
    parser.add_argument("--keep", help="leave the results in this folder")
    args = parser.parse_args()
    try:
        good = [part(args) for part in (throughput, tfrc) if args.part in (None, part.__name__)]
    except guest.Unavailable as error:
        print(f"skipped: {error}")
        return 77
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
