#!/usr/bin/env python3
"""Coverage by room, from gcovr's summary. usage: coverage_rooms.py SUMMARY.json

Fails where the protocol and its congestion control are covered by less than they have to be.
"""
import collections
import json
import sys

# The rooms whose every line has a requirement behind it.
REQUIRED = ("stack/wire", "stack/conn", "ccid")
LEAST_LINES, LEAST_BRANCHES = 95.0, 85.0
COUNTS = ("line_covered", "line_total", "branch_covered", "branch_total")


def room(filename):
    parts = filename.split("/")
    return "/".join(parts[:2]) if parts[0] in ("stack", "apps") else parts[0]


def percent(covered, total):
    return 100.0 * covered / total if total else 100.0


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        files = json.load(file)["files"]
    rooms = collections.defaultdict(lambda: [0] * len(COUNTS))
    for entry in files:
        for name in (room(entry["filename"]), "all"):
            rooms[name] = [have + entry[key] for have, key in zip(rooms[name], COUNTS)]
    print(f"{'room':<24} {'lines':>16} {'%':>6} {'branches':>16} {'%':>6}")
    poor = []
    for name, (lines, of_lines, branches, of_branches) in sorted(rooms.items()):
        by_line, by_branch = percent(lines, of_lines), percent(branches, of_branches)
        print(f"{name:<24} {lines:>8}/{of_lines:<7} {by_line:>6.1f}"
              f" {branches:>8}/{of_branches:<7} {by_branch:>6.1f}")
        if name in REQUIRED and (by_line < LEAST_LINES or by_branch < LEAST_BRANCHES):
            poor.append(name)
    if poor:
        sys.exit(f"coverage: below {LEAST_LINES:g} % of lines or {LEAST_BRANCHES:g} % of branches: "
                 + ", ".join(poor))


if __name__ == "__main__":
    main()
