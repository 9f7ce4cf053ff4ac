#!/usr/bin/env python3
"""Checks that each installed header compiles on its own, twice included, without a warning.

usage: headers_alone.py COMPILER INCLUDE_DIRECTORY...
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

WARNINGS = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror".split()


def main():
    compiler, directories = sys.argv[1], sys.argv[2:]
    headers = [h.name for d in directories for h in sorted(pathlib.Path(d, "dccp").glob("*.h"))]
    if not headers:
        print("no headers found")
        return 2
    flags = ["-std=c++20", "-fsyntax-only", "-x", "c++", *WARNINGS, *[f"-I{d}" for d in directories]]

    def compile_alone(name):
        text = f'#include "dccp/{name}"\n' * 2
        return subprocess.run([compiler, *flags, "-"], input=text, capture_output=True, text=True)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(compile_alone, headers))
    for name, result in zip(headers, results):
        if result.returncode != 0:
            print(f"dccp/{name} does not compile alone:\n{result.stderr}")
    return 1 if any(r.returncode for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
