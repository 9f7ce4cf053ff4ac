#!/usr/bin/env python3
"""Says which requirement has which tests, from requirements.tsv and the names of the tests.

usage: status.py                    writes STATUS.md and the summary in the project's README.md
       status.py --check            exit status 1, and the reason, when either is out of date or
                                    the list and the tests disagree
       status.py --counts [BUILD]   prints how many test cases name a requirement, by section;
                                    BUILD: as ctest lists them there, each parameter a case
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIST = HERE / "requirements.tsv"
STATUS = HERE / "STATUS.md"
README = ROOT / "README.md"
BEGIN = "<!-- status: written by tests/conformance/status.py -->"
END = "<!-- status: end -->"

RFC_4340 = [
    ("§3, §4", "Conventions and concepts", "GEN"),
    ("§5", "Header, packet types, Reset Codes, options", "HDR PKT RST OPT"),
    ("§6", "Feature negotiation and features", "FN FT"),
    ("§7", "Sequence numbers, NDP Count", "SEQ SN NDP"),
    ("§8", "Set-up, data, termination, event processing", "CON SVC COOK XFER CLS EVT"),
    ("§9", "Checksums", "CSM"),
    ("§10", "Congestion control", "CC"),
    ("§11", "Acknowledgements", "ACK AR AV SR DD"),
    ("§12", "ECN and misbehaviour", "ECN AGG"),
    ("§13", "Timing options", "TIM"),
    ("§14", "Maximum packet size", "MPS"),
    ("§15-§19", "Compatibility, middleboxes, security, numbers", "FWD MBX SEC IANA"),
    ("Linux", "Working with the stack of Linux 6.1", "LNX"),
]
# Other RFCs: label, title, and what their items begin with.
OTHERS = [
    ("RFC 4341", "CCID 2", "R4341-"),
    ("RFC 4342", "CCID 3", "R4342-"),
    ("RFC 5348", "TFRC", "R5348-"),
    ("RFC 6323", "Sender RTT Estimate", "R6323-"),
    ("RFC 4828", "TFRC-SP", "R4828-"),
    ("RFC 5622", "CCID 4", "R5622-"),
]
FAILURES = [
    ("A", "Handshake, states, sequence numbers"),
    ("B", "Options and feature negotiation"),
    ("C", "Closing, ICMP, the application's side"),
    ("D", "CCID 2 and Ack Vectors"),
    ("E", "CCID 3 and TFRC"),
    ("F", "Header, checksum, decoders"),
    ("G", "Limits met in real use"),
]

Item = collections.namedtuple("Item", "id section level text how")
Test = collections.namedtuple("Test", "name ids path")


class Group:
    """One row of the summary: a section of the RFC, or a kind of failure."""

    def __init__(self, label, title, belongs):
        self.label, self.title, self.belongs = label, title, belongs
        self.items = []


def make_groups():
    groups = []
    for label, title, areas in RFC_4340:
        prefixes = tuple(f"R4340-{area}-" for area in areas.split())
        groups.append(Group(f"RFC 4340 {label}".replace("RFC 4340 Linux", "Linux 6.1"), title,
                            lambda i, p=prefixes: i.startswith(p)))
    for label, title, prefix in OTHERS:
        groups.append(Group(label, title, lambda i, p=prefix: i.startswith(p)))
    for letter, title in FAILURES:
        groups.append(Group(f"Failures {letter}", title,
                            lambda i, p=f"Bug-{letter}": re.fullmatch(p + r"\d+", i)))
    groups.append(Group("CVE", "Published vulnerabilities", lambda i: i.startswith("Cve-")))
    return groups


def read_list(groups, faults):
    """Reads requirements.tsv into the groups; returns the items by id, in order."""
    items = {}
    for number, line in enumerate(LIST.read_text().splitlines(), 1):
        if line.startswith("#") or line.startswith("id\t"):
            continue
        fields = line.split("\t")
        where = f"{LIST.name}:{number}"
        if len(fields) != 5 or not all(fields[:4]):
            faults.append(f"{where}: five fields are due, of which the last may be empty")
            continue
        item = Item(*fields)
        if item.id in items:
            faults.append(f"{where}: {item.id} is there twice")
        if len(item.text) > 100:
            faults.append(f"{where}: the text has {len(item.text)} characters, 100 is the limit")
        if item.how and not re.match(r"(review|later|left out): \S", item.how):
            faults.append(f"{where}: {item.how!r} is neither review:, later: nor left out:")
        home = [group for group in groups if group.belongs(item.id)]
        if not home:
            faults.append(f"{where}: no section for {item.id}")
            continue
        items[item.id] = item
        home[0].items.append(item)
    return items


def ids_of(name):
    """The requirements that a test's name begins with: R4340_CLS_01_EVT_17_Bug_A5_WhatItShows."""
    found, rfc, mode, tokens = [], "4340", None, name.split("_")
    while tokens:
        token = tokens.pop(0)
        if re.fullmatch(r"R\d{4}", token):
            rfc, mode = token[1:], "rfc"
        elif token == "Bug":
            mode = "bug"
        elif token == "Cve" and len(tokens) >= 2 and tokens[0].isdigit() and tokens[1].isdigit():
            found.append(f"Cve-{tokens.pop(0)}-{tokens.pop(0)}")
        elif token == "Cve" and tokens and re.fullmatch(r"[0-9a-f]{12}", tokens[0]):
            found.append(f"Cve-{tokens.pop(0)}")
        elif mode == "bug" and re.fullmatch(r"[A-Z]\d{1,2}", token):
            found.append(f"Bug-{token}")
        elif mode and re.fullmatch(r"[A-Z]+", token) and tokens and re.fullmatch(r"\d\d", tokens[0]):
            found.append(f"R{rfc}-{token}-{tokens.pop(0)}")
        else:
            break
    return found


NAMED = re.compile(r"(?:^|[./])((?:R\d{4}|Bug|Cve)_\w+)")


def source_tests():
    """Every test case of the sources whose name begins with a requirement."""
    tests = []
    macro = re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*\w+\s*,\s*(\w+)\s*\)", re.M)
    for path in sorted((ROOT / "tests").rglob("*.cc")):
        names = macro.findall(path.read_text())
        tests += [Test(name, ids_of(name), path) for name in names if NAMED.match(name)]
    for path in sorted((HERE / "scripts").glob("*.dccp")):
        if NAMED.match(path.stem):
            tests.append(Test(path.stem, ids_of(path.stem), path))
    return tests


def listed_tests(build):
    """The same, as ctest lists them: each value of a parameterised test is a case."""
    listing = subprocess.run(["ctest", "--test-dir", build, "-N"], capture_output=True, text=True,
                             check=True).stdout
    tests = []
    for name in re.findall(r"^ *Test +#\d+: (.*)$", listing, re.M):
        match = NAMED.search(name)
        if match:
            tests.append(Test(name, ids_of(match.group(1)), None))
    return tests


def check_tests(items, tests, faults):
    """Names must be of the list, as far as the list has that RFC, and each item needs something."""
    listed = {i.split("-")[0] for i in items}
    for test in tests:
        where = test.path.relative_to(ROOT)
        if not test.ids:
            faults.append(f"{where}: {test.name} names an RFC and no requirement of it")
        for i in test.ids:
            if i not in items and i.split("-")[0] in listed:
                faults.append(f"{where}: {test.name} names {i}, which {LIST.name} does not have")
    named = {i for test in tests for i in test.ids}
    for item in items.values():
        if not item.how and item.id not in named:
            faults.append(f"{LIST.name}: {item.id} has neither a test nor a reason")


def list_without_what_came(named):
    """requirements.tsv, where "later" is over for what has a test by now."""
    lines = []
    for line in LIST.read_text().splitlines(keepends=True):
        fields = line.rstrip("\n").split("\t")
        if len(fields) == 5 and fields[0] in named and fields[4].startswith("later:"):
            line = "\t".join(fields[:4] + [""]) + "\n"
        lines.append(line)
    return "".join(lines)


def tests_by_id(tests):
    by_id = collections.defaultdict(list)
    for test in tests:
        for i in dict.fromkeys(test.ids):
            by_id[i].append(test)
    return by_id


def state_of(item, by_id):
    if by_id[item.id]:
        return "tested"
    return item.how.split(":")[0] if item.how else "missing"


def what_it_shows(test):
    """The test's name without the requirements that it begins with."""
    words = test.name.split("_")
    while words and re.fullmatch(r"R\d{4}|Bug|Cve|[A-Z]+|[A-Z]?\d+", words[0]):
        words.pop(0)
    return "_".join(words) or test.name


def link(test):
    return f"[{what_it_shows(test)}]({os.path.relpath(test.path, HERE)})"


def status_text(groups, by_id):
    out = ["# Status", "",
           "Written by [status.py](status.py) from [requirements.tsv](requirements.tsv) and the names",
           "of the tests: do not edit. A requirement is *tested*, or seen in *review*; *later* and",
           "*left out* say why."]
    for group in groups:
        out += ["", f"## {group.label}: {group.title}", "",
                "| item | where | level | what | implemented | tests |", "|---|---|---|---|---|---|"]
        for item in group.items:
            state = state_of(item, by_id)
            implemented = {"tested": "yes", "review": "yes", "missing": "?"}.get(state, state)
            shown = ", ".join(link(test) for test in by_id[item.id]) or item.how
            out.append(f"| {item.id} | {item.section} | {item.level} | {item.text} | "
                       f"{implemented} | {shown} |")
    return "\n".join(out) + "\n"


def summary_text(groups, by_id):
    out = [BEGIN, "", "| section | items | tested | by review | later | left out |",
           "|---|--:|--:|--:|--:|--:|"]
    total = collections.Counter()

    def row(label, count):
        cells = [sum(count.values())] + [count[s] for s in ("tested", "review", "later", "left out")]
        out.append(f"| {label} | " + " | ".join(str(cell) for cell in cells) + " |")

    for group in groups:
        count = collections.Counter(state_of(item, by_id) for item in group.items)
        total += count
        row(f"{group.label}: {group.title}", count)
    row("all", total)
    return "\n".join(out + ["", END])


def with_summary(readme, summary):
    if readme.count(BEGIN) != 1 or readme.count(END) != 1:
        sys.exit(f"{README}: the two marker comments of status.py are not there once each")
    before, rest = readme.split(BEGIN)
    return before + summary + rest.split(END)[1]


def print_counts(groups, tests):
    print(f"{'cases that name a requirement':60} {'items':>6} {'cases':>6}")
    for group in groups:
        cases = sum(any(group.belongs(i) for i in test.ids) for test in tests)
        print(f"{group.label + ': ' + group.title:60} {len(group.items):6} {cases:6}")
    rfc = sum(any(i.startswith("R4340-") for i in test.ids) for test in tests)
    failures = sum(any(i.startswith(("Bug-", "Cve-")) for i in test.ids) for test in tests)
    print(f"{rfc} cases for RFC 4340, {failures} for failures of other stacks, "
          f"{len(tests)} in all with other RFCs; some count twice. Which: tests/conformance/STATUS.md")


def main():
    arguments = sys.argv[1:]
    if arguments[:1] not in ([], ["--check"], ["--counts"]) or len(arguments) > 2:
        sys.exit(__doc__)
    faults, groups = [], make_groups()
    items = read_list(groups, faults)
    if arguments[:1] == ["--counts"]:
        print_counts(groups, listed_tests(arguments[1]) if arguments[1:] else source_tests())
        return 0
    tests = source_tests()
    check_tests(items, tests, faults)
    by_id = tests_by_id(tests)
    wanted = {LIST: list_without_what_came({i for test in tests for i in test.ids}),
              STATUS: status_text(groups, by_id),
              README: with_summary(README.read_text(), summary_text(groups, by_id))}
    for path, text in wanted.items():
        if path.exists() and path.read_text() == text:
            continue
        if arguments:
            faults.append(f"{path.relative_to(ROOT)}: out of date; run tests/conformance/status.py")
        else:
            path.write_text(text)
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
