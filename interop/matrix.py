#!/usr/bin/env python3
"""Runs the matrix of the stack against the kernel's, and prints it.

usage: matrix.py --bin FOLDER [--short] [--only TEXT] [--jobs N] [--keep FOLDER] [--cached]
                 [--captures FOLDER] [--part I/N] [--minutes M] [--repeat N]
                 [--qemu]

--qemu: with a stock kernel of a newer series instead of the one that is built.
--short: cells in which every pair of values of two dimensions meets, instead of all.
Exit codes: 0 all cells pass, 1 some do not, 77 it cannot run here, or not all of it in time (the
reason is printed).
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import pathlib
import random
import shutil
import sys
import time

from lib import cells, checks, decoders, defects, guest, qemu

CLOSES = cells.DIMENSIONS["close"]


def arguments():
    parser = argparse.ArgumentParser(description="DCCP against a Linux kernel, cell by cell")
    parser.add_argument("--bin", required=True, help="the folder of the programs")
    parser.add_argument("--short", action="store_true", help="every pair of dimensions only")
    parser.add_argument("--qemu", action="store_true", help="with a stock kernel of Debian's")
    parser.add_argument("--part", default="1/1", help="I/N: every N-th cell only, from the I-th")
    parser.add_argument("--only", default="", help="cells whose name contains this")
    parser.add_argument("--repeat", type=int, default=1, help="run each of them so often")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="guests")
    parser.add_argument("--keep", help="leave captures and results in this folder")
    parser.add_argument("--cached", action="store_true", help="never build a kernel")
    parser.add_argument("--minutes", type=float, help="stop after so long (90; --qemu: never)")
    parser.add_argument("--captures", help="only make the small captures, into this folder")
    args = parser.parse_args()
    if args.minutes is None:
        args.minutes = float("inf") if args.qemu else 90
    return args


def judge(job, result, folder, programs):
    kind = defects.DefectCell if "defect" in job else checks.Cell
    cell = kind(job, result, folder, programs)
    cell.name, cell.id = job["name"], job["id"]
    try:
        cell.check()
    except (RuntimeError, OSError, KeyError, TypeError, ValueError) as error:
        cell.fault(f"check: {type(error).__name__}: {error}")
    if cell.faults:
        print(f"FAILED {cell.id}: " + "; ".join(cell.faults[:4]), flush=True)
    return cell


def mark(verdict):
    return {True: "+", False: "X", None: "."}[verdict]


def print_matrix(verdicts):
    """One mark a cell: rows of role, family, CCID and data, columns of path and ending."""
    paths = cells.DIMENSIONS["path"]
    print("\nEndings, in each column: " + ", ".join(CLOSES))
    print(f"{'':44}" + " ".join(f"{p:<{len(CLOSES) + 2}}" for p in paths))
    for role, family, ccid, data in itertools.product(
            cells.DIMENSIONS["role"], cells.DIMENSIONS["family"], cells.DIMENSIONS["ccid"],
            cells.DIMENSIONS["data"]):
        row = ""
        for path in paths:
            marks = "".join(mark(verdicts.get(f"{role}.{family}.{ccid}.{data}.{close}.{path}"))
                            for close in CLOSES)
            row += f"{marks:<{len(CLOSES) + 2}} "
        if row.strip(". "):
            print(f"{role:<16} {family} CCID {ccid:<9} {data:<8}   {row}")
    for role, family, ccid in itertools.product(
            cells.DIMENSIONS["role"], cells.DIMENSIONS["family"], ("none-2", "none-3")):
        row = " ".join(f"{mark(verdicts.get(f'{role}.{family}.{ccid}.{path}')):<{len(CLOSES) + 2}}"
                       for path in paths)
        if row.strip(". "):
            print(f"{role:<16} {family} no common CCID ({ccid[-1]} first)  {row}")


def attempt(args, jobs, machine, deadline, folder=""):
    """Runs the jobs in guests of their own; yields their cells, judged. `folder`: inside of what
    --keep names."""
    keep = pathlib.Path(args.keep) / folder if args.keep else None
    job_of = {job["name"]: job for job in jobs}
    with guest.Guests(args.bin, min(args.jobs, len(jobs)), machine, keep) as guests, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        guests.start(jobs)
        figures = guests.boot_figures()
        print(f"{len(figures)} guests with Linux {figures[0]['kernel']}, {len(jobs)} cells; "
              f"tshark: {'yes' if decoders.has_tshark() else 'no, not installed'}", flush=True)
        waiting = [pool.submit(judge, job, result, guests.work / job["id"], guests.bin)
                   for job, result in guests.results(jobs, deadline)]
        for done in concurrent.futures.as_completed(waiting):
            cell = done.result()
            if args.captures and not cell.faults:
                host = "A" if job_of[cell.name]["cell"]["role"].startswith("stack") else "B"
                shutil.copyfile(cell.folder / f"{host}.pcap",
                                pathlib.Path(args.captures) / f"{cell.name}.pcap")
            yield cell


def chosen_jobs(args):
    """The jobs of the cells that were asked for, in another order than the table's, the same in each
    run: slow cells are spread over it."""
    if args.captures:
        jobs = [cells.job(c, n, datagrams=20, size=60) for n, c in enumerate(cells.capture_cells())
                if args.only in cells.name(c)]
    else:
        chosen = cells.pairwise_cells() if args.short else cells.all_cells()
        jobs = [defect.job(n) for n, defect in enumerate(defects.every() * args.repeat)
                if args.only in defect.name]
        jobs += [cells.job(c, n) for n, c in enumerate(chosen * args.repeat)
                 if args.only in cells.name(c)]
    for job in jobs:
        job["name"] = job["id"].split(".", 1)[1]
    random.Random(4340).shuffle(jobs)
    first, step = map(int, args.part.split("/"))
    return jobs[first - 1::step]


def run(args):
    jobs = chosen_jobs(args)
    if not jobs:
        print(f"no cell contains {args.only!r}")
        return 2
    machine = qemu.Machine() if args.qemu else guest.UserMode(guest.kernel_path(args.cached))
    begun = time.monotonic()
    passed, packets, excuses = {}, 0, collections.Counter()
    for cell in attempt(args, jobs, machine, begun + args.minutes * 60):
        passed[cell.id] = not cell.faults
        packets += cell.packets
        excuses[cell.excuse] += bool(cell.excuse)
    # A guest of a busy machine may be held up at the wrong moment: what failed has one more try,
    # and the summary says so. A fault of either stack fails again.
    again = [job for job in jobs if passed.get(job["id"]) is False]
    if again:
        print("again: " + ", ".join(job["id"] for job in again), flush=True)
        for cell in attempt(args, again, machine, begun + args.minutes * 60, "again"):
            passed[cell.id] = not cell.faults
            packets += cell.packets
    verdicts = {}
    for job in jobs:
        if job["id"] in passed:
            verdicts[job["name"]] = verdicts.get(job["name"], True) and passed[job["id"]]
    print_matrix(verdicts)
    print("\nWeaknesses of Linux:")
    for name, text in {j["name"]: j["defect"].__doc__ for j in jobs if "defect" in j}.items():
        print(f"{mark(verdicts.get(name))} {name:<40} {text}")
    good = sum(passed.values())
    print(f"\n{good} of {len(passed)} cells pass, {packets} packets checked by dccp-dump"
          f"{' and tshark' if decoders.has_tshark() else ''}, in {time.monotonic() - begun:.0f} s")
    if again:
        print(f"{len(again)} of them needed a second try")
    for excuse, count in excuses.items():
        if count:
            print(f"{count} of them could not be run to the end: {excuse}")
    if good == len(passed) < len(jobs):
        print(f"skipped: {len(jobs) - good} cells, this machine was too busy to run them within "
              f"{args.minutes:g} minutes")
        return 77
    return 0 if good == len(jobs) else 1


def main():
    args = arguments()
    try:
        return run(args)
    except guest.Unavailable as error:
        print(f"skipped: {error}")
        return 77


if __name__ == "__main__":
    sys.exit(main())
