#!/usr/bin/env python3
"""Millions of packets both ways between the stack and the kernel, with loss, and the books after.

usage: soak.py --bin FOLDER [--packets N] [--keep FOLDER]

One guest runs CCID 2, another CCID 3; each direction carries a quarter of N datagrams. The books
balance when, in each direction: what the sender sent entered the router; what did not leave it was
dropped by netem, by its own count; what left it was received once (the kernel may deliver a copy:
datagrams are counted by number), or dropped for a reason that our stack counted.
"""

import argparse
import sys
import time

from lib import cells, guest
from lib.checks import event

LOSS = "delay 1ms loss 0.1%"


def job(ccid, datagrams):
    common = ["--ccids", str(ccid), "--send", str(datagrams), "--size", "200", "--expect",
              "--wait", "60"]
    port = 7000 + ccid
    server = cells.ADDRESS["kernel", "B", "v4"]
    return {
        "id": f"soak-ccid-{ccid}", "port": port, "keep": False, "limit": 6 * 3600, "tail": 1,
        "sysctl": {"net.dccp.default.seq_window": 10000},
        "path": {"ab": LOSS, "ba": LOSS}, "finale": [[0, "close", "client"]],
        "peers": [
            {"name": "server", "at": "B", "after": "listening",
             "argv": ["{bin}/kernel_peer", *common, "--queue", "100", "--buffer", "8000000",
                      "listen", server, str(port)]},
            {"name": "client", "at": "A",
             "argv": ["{bin}/stack_peer", *common, "--tun", "tun0", "--bind",
                      cells.ADDRESS["stack", "A", "v4"], "connect", server, str(port)]},
        ],
    }


def balance(result):
    """Prints the books of one run; returns the faults and how many packets crossed."""
    faults = list(result["notes"])
    ends = {p["name"]: event(p, "end") for p in result["peers"]}
    if None in ends.values() or len(ends) != 2:
        return faults + ["an end is missing"], 0
    taps, queues, packets = result["taps"], result["queues"], 0
    for direction, sender, receiver, way_in, way_out in (
            ("ab", "client", "server", "ra", "rb"), ("ba", "server", "client", "rb", "ra")):
        into, out = taps[way_in]["in"], taps[way_out]["out"]
        lost = into["data"] - out["data"]
        got = ends[receiver]
        dropped = 0
        if receiver == "client":
            dropped = got["counters"]["receive_overflows"] + got["counters"]["sequence_invalid"]
        packets += into["packets"]
        print(f"  {sender} to {receiver}: sent {ends[sender]['sent']} datagrams and 3 end marks; "
              f"{into['data']} entered the router, {lost} lost there, {got['unique']} received and "
              f"{got['end_marks']} end marks, {got['duplicates']} twice, {dropped} dropped; "
              f"netem dropped {queues[direction]['dropped']} of {into['packets']} packets")
        if ends[sender]["sent"] + 3 != into["data"]:
            faults.append(f"{direction}: sent and entered differ")
        if into["packets"] - out["packets"] != queues[direction]["dropped"]:
            faults.append(f"{direction}: {into['packets'] - out['packets']} packets gone in the "
                          f"router, {queues[direction]['dropped']} dropped by netem")
        if got["unique"] + got["end_marks"] + dropped != out["data"]:
            faults.append(f"{direction}: {out['data']} left the router, "
                          f"{got['unique'] + got['end_marks']} received, {dropped} dropped")
        if got["corrupt"] or (receiver == "client" and got["duplicates"]):
            faults.append(f"{direction}: {got['corrupt']} corrupt, {got['duplicates']} twice")
    return faults, packets


def run(args):
    jobs = [job(ccid, args.packets // 4) for ccid in (2, 3)]
    begun, total, bad = time.monotonic(), 0, 0
    with guest.Guests(args.bin, len(jobs), guest.UserMode(guest.kernel_path()), args.keep) as guests:
        guests.start(jobs)
        for done, result in guests.results(jobs):
            print(f"{done['id']}, {result.get('seconds', 0):.0f} s:", flush=True)
            faults, packets = balance(result)
            total += packets
            bad += bool(faults)
            for text in faults:
                print(f"  FAILED {text}")
    print(f"{total} packets in {time.monotonic() - begun:.0f} s, the books "
          f"{'do not balance' if bad else 'balance'}")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--bin", required=True, help="the folder of the programs")
    parser.add_argument("--packets", type=int, default=10_000_000, help="datagrams in all")
    parser.add_argument("--keep", help="leave the results in this folder")
    args = parser.parse_args()
    try:
        return run(args)
    except guest.Unavailable as error:
        print(f"skipped: {error}")
        return 77


if __name__ == "__main__":
    sys.exit(main())
