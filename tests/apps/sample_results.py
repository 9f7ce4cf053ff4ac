#!/usr/bin/env python3
"""Writes result files with known figures, for tests of reports.

usage: sample_results.py TFRC.json SIZES.json
"""

import json
import random
import sys


def run(random_source, rate, seconds):
    """One run whose rate goes up and down around `rate`."""
    intervals = [
        {
            "start_s": t,
            "end_s": t + 1,
            "bits_per_second": rate * random_source.uniform(0.7, 1.3),
            "lost_packets": random_source.randrange(4),
            "loss_event_rate": random_source.uniform(0.005, 0.015),
        }
        for t in range(seconds)
    ]
    mean = sum(one["bits_per_second"] for one in intervals) / seconds
    return {
        "intervals": intervals,
        "received": {"bits_per_second": mean},
        "sent": {"bits_per_second": mean},
        "cpu": {
            "local_percent": random_source.uniform(40, 60),
            "remote_percent": random_source.uniform(30, 50),
            "local_us_per_packet": random_source.uniform(1, 2),
            "remote_us_per_packet": random_source.uniform(1, 2),
        },
    }


def cell(random_source, name, rate, runs, **more):
    """A cell with its sums, as the lab writes it."""
    measured = [run(random_source, rate, 20) for _ in range(runs)]
    rates = [one["received"]["bits_per_second"] for one in measured]
    mean = sum(rates) / runs
    sd = (sum((r - mean) ** 2 for r in rates) / (runs - 1)) ** 0.5
    out = {"id": name, **more, "runs": measured, "mean_bps": mean, "stddev_bps": sd}
    out["ci95_bps"] = 2.26 * sd / runs**0.5
    return out


def main():
    source = random.Random(1)
    tfrc = []
    for rtt, loss, rate in ((40, 0.01, 3.2e6), (150, 0.01, 0.85e6), (150, 0.1, 0.13e6)):
        for family, size in ((6, 1420), (6, 256), (4, 1440), (4, 256)):
            equation = rate * size / 1420
            tfrc.append(
                cell(
                    source,
                    f"relay-v{family}-{size}-{rtt}ms-{loss:.0%}",
                    equation * 1.03,
                    3,
                    family=family,
                    ccid=3,
                    payload_bytes=size,
                    encap="udp",
                    rtt_ms=rtt,
                    loss=loss,
                    topology="relay",
                    equation_bps=equation,
                )
            )
    sizes = [
        cell(
            source,
            f"v4-ccid{ccid}-udp-{size}",
            size * 8e5 / ccid,
            3,
            family=4,
            ccid=ccid,
            payload_bytes=size,
            encap="udp",
            topology="loopback",
        )
        for ccid in (2, 3)
        for size in (32, 256, 1440, 8900)
    ]
    for path, command, cells in zip(sys.argv[1:3], ("tfrc", "sizes"), (tfrc, sizes)):
        document = {
            "plan": {"command": command, "seconds": 20},
            "host": {"kernel": "Linux", "cpu": "a processor", "cores": 2},
            "cells": cells,
        }
        with open(path, "w", encoding="utf-8") as out:
            json.dump(document, out)


if __name__ == "__main__":
    main()
