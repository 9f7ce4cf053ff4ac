#!/usr/bin/env python3
"""Checks the wording and length of sources, and the links of Markdown files.

usage: text_rules.py [--links] ROOT     (--links: the links only)
"""

import pathlib
import re
import sys

MAX_LINES = 600
SOURCE_FOLDERS = ("stack", "ccid", "apps", "tests", "interop", "cmake")
SOURCE_SUFFIXES = {".h", ".cc", ".py", ".sh", ".cmake", ".txt"}
# This file has to name the words; data is not ours to word.
EXEMPT = ("tests/layering/text_rules.py", "tests/data/")

WORDS = re.compile(r"\b(TODO|FIXME|XXX|HACK|simplified|placeholder)\b")
COMMENTED_CODE = re.compile(r"^\s*//\s*(if \(.*\) \{|return .*;$|[\w.>-]+\(.*\);$|#include )")
RFC_FORM = re.compile(r"\bRFC(\d|-\d)|\bRFC \d+ (section|sec\.|Section) ?\d")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


def check_sources(root):
    faults = []
    for folder in SOURCE_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in SOURCE_SUFFIXES or not path.is_file() or name.startswith(EXEMPT):
                continue
            lines = path.read_text(errors="replace").splitlines()
            if len(lines) > MAX_LINES:
                faults.append(f"{name}: {len(lines)} lines; split it (limit {MAX_LINES})")
            for number, line in enumerate(lines, 1):
                if WORDS.search(line):
                    faults.append(f"{name}:{number}: says {WORDS.search(line).group(0)!r}")
                if path.suffix in (".h", ".cc"):
                    if COMMENTED_CODE.search(line):
                        faults.append(f"{name}:{number}: commented-out code?")
                    if RFC_FORM.search(line):
                        faults.append(f"{name}:{number}: write it as RFC 4340 §7.5.1")
    return faults


def check_links(root):
    faults = []
    for path in sorted(root.rglob("*.md")):
        name = path.relative_to(root)
        if name.parts[0].startswith(("build", ".")):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for link in LINK.findall(line):
                if "://" not in link and not (path.parent / link).exists():
                    faults.append(f"{name}:{number}: link to {link}, which does not exist")
    return faults


def main():
    root = pathlib.Path(sys.argv[-1]).resolve()
    faults = check_links(root)
    if "--links" not in sys.argv:
        faults += check_sources(root)
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
