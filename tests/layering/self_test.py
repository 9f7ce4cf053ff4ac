#!/usr/bin/env python3
"""Shows that the layering checks report faults, on small trees and objects with known ones.

usage: self_test.py include_graph | self_test.py symbols NM COMPILER
"""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent

# (file, its one include, part of the expected complaint or None when it is allowed)
INCLUDES = [
    ("stack/wire/ok.cc", '"stack/base/check.h"', None),
    ("stack/wire/up.cc", '"stack/conn/connection.h"', "wire may not include"),
    ("stack/base/up.cc", '"dccp/endpoint.h"', "base may not include"),
    ("stack/conn/io.cc", "<sys/socket.h>", "the core does without"),
    ("stack/io/ok.cc", "<sys/socket.h>", None),
    ("stack/io/sideways.cc", '"stack/sim/network.h"', "io may not include"),
    ("stack/io/sealed.cc", '"dccp/openssl_cookie_sealer.h"', None),
    ("stack/tls/ok.cc", "<openssl/evp.h>", None),
    ("stack/tls/up.cc", '"stack/io/udp.h"', "tls may not include"),
    ("stack/endpoint/sealed.cc", '"dccp/openssl_cookie_sealer.h"', "endpoint may not include"),
    ("stack/endpoint/tls.cc", "<openssl/evp.h>", "the core does without"),
    ("stack/trace/up.cc", '"stack/conn/connection.h"', "trace may not include"),
    ("ccid/ccid2/up.cc", '"stack/conn/connection.h"', "ccid may not include"),
    ("apps/examples/inside.cc", '"stack/base/check.h"', "installed headers only"),
    ("stack/wire/missing.cc", '"stack/base/nothing.h"', "no such file"),
]
TREE = [
    "stack/base/check.h",
    "stack/conn/connection.h",
    "stack/sim/network.h",
    "stack/include/dccp/endpoint.h",
    "stack/include/dccp/openssl_cookie_sealer.h",
    "stack/io/udp.h",
]


def include_graph():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in TREE + [name for name, _, _ in INCLUDES]:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("\n")
        for name, include, _ in INCLUDES:
            (root / name).write_text(f"#include {include}\n")
        run = subprocess.run(
            [sys.executable, HERE / "include_graph.py", root], capture_output=True, text=True
        )
    complaints = {line.split(":")[0]: line for line in run.stdout.splitlines()}
    for name, include, expected in INCLUDES:
        line = complaints.get(name)
        if (line is None) != (expected is None) or (expected and expected not in line):
            return f"{name} with {include}: expected {expected}, got {line}"
    return None


def symbols(nm, compiler):
    cases = [
        ('extern "C" int send(int, const void*, unsigned long, int);'
         " int f() { return send(0, nullptr, 0, 0); }", "send"),
        ("#include <chrono>\nauto f() { return std::chrono::steady_clock::now(); }", "now()"),
        ("#include <cstdlib>\nconst char* f() { return std::getenv(\"A\"); }", "getenv"),
        ("#include <cstdio>\nvoid f() { std::puts(\"a\"); }", "puts"),
        ("extern int g(); int f() { return g(); }", None),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for source, expected in cases:
            obj = pathlib.Path(folder, "case.o")
            command = [compiler, "-std=c++20", "-x", "c++", "-c", "-", "-o", obj]
            subprocess.run(command, input=source, text=True, check=True)
            run = subprocess.run(
                [sys.executable, HERE / "symbols.py", nm, obj], capture_output=True, text=True
            )
            found = run.returncode == 1 and expected is not None and expected in run.stdout
            if not found and not (expected is None and run.returncode == 0):
                return f"{source!r}: expected {expected}, got {run.stdout!r}"
    return None


def main():
    fault = include_graph() if sys.argv[1] == "include_graph" else symbols(*sys.argv[2:4])
    if fault:
        print(fault)
    return 1 if fault else 0


if __name__ == "__main__":
    sys.exit(main())
