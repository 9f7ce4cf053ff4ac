#!/usr/bin/env python3
"""Checks the wording and length of sources, the links of Markdown files, and what is at the top.

usage: text_rules.py [--links] ROOT     (--links: the links only)
"""

import pathlib
import re
import subprocess
import sys

MAX_LINES = 600
SOURCE_FOLDERS = ("stack", "ccid", "apps", "tests", "interop", "cmake")
SOURCE_SUFFIXES = {".h", ".cc", ".py", ".sh", ".cmake", ".txt"}
TOP_LEVEL = set(
    ".ci .clang-format .clang-tidy .gitattributes .gitignore CHANGELOG.md CMakeLists.txt "
    "CMakePresets.json LICENSE README.md apps ccid dev interop stack tests".split()
)
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


def check_top(root):
    """What is tracked at the top; nothing where this is no git checkout."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True)
    if listed.returncode != 0:
        return []
    top = {name.split("/")[0] for name in listed.stdout.split("\0") if name}
    return [f"{name}: does not belong at the top" for name in sorted(top - TOP_LEVEL)]


def main():
    root = pathlib.Path(sys.argv[-1]).resolve()
    faults = check_links(root)
    if "--links" not in sys.argv:
        faults += check_sources(root) + check_top(root)
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
