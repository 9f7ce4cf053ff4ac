#!/usr/bin/env python3
"""Checks that every #include follows the arrows between the layers.

usage: include_graph.py ROOT
"""

import pathlib
import re
import sys

CORE = ["base", "wire", "ccid", "conn", "endpoint"]

# What each layer may include from.
ALLOWED = {layer: set(CORE[: i + 1]) for i, layer in enumerate(CORE)}
ALLOWED["trace"] = {"base", "wire", "trace"}
for upper in ("io", "sim", "tls", "multipath"):
    ALLOWED[upper] = set(CORE) | {upper}
ALLOWED["lab"] = set(CORE) | {"sim", "lab"}
# The driver gives an endpoint what it needs, a sealer of cookies too.
ALLOWED["io"].add("tls")
PRODUCT = set(CORE) | {"trace", "io", "tls", "multipath"}
ALLOWED["capi"] = PRODUCT | {"capi"}
ALLOWED["shim"] = {"capi", "shim"}
ALLOWED["examples"] = {"base", "ccid", "endpoint", "io", "tls", "trace", "public"}
ALLOWED["apps"] = PRODUCT | {"sim", "lab", "apps"}

# The layer of each installed header; one that is not named here is part of the endpoint's API.
PUBLIC = {
    "base": "export random result seqno service_code time trace types",
    "wire": "option_writer",
    "ccid": "ccid ccids ccid2 ccid3 ccid4",
    "conn": "connection",
    "trace": "pcap_sink jsonl_sink text_sink byte_writer",
    "tls": "openssl_cookie_sealer",
    "io": "io uv driver uv_driver udp_socket raw_socket",
}
PUBLIC_LAYER = {stem: layer for layer, stems in PUBLIC.items() for stem in stems.split()}

# System headers that the core must do without.
CORE_FORBIDDEN = re.compile(
    r"<(sys/.*|netinet/.*|arpa/.*|net/.*|unistd\.h|fcntl\.h|poll\.h|pthread\.h|signal\.h|time\.h"
    r"|errno\.h|stdio\.h|stdlib\.h|uv\.h|openssl/.*|fmt/.*|nlohmann/.*|CLI/.*|cstdio|ctime|cerrno"
    r"|iostream|istream|ostream|sstream|fstream|iomanip|thread|mutex|shared_mutex|atomic|future"
    r"|condition_variable|random|stdexcept|exception|typeinfo|functional|filesystem)>"
)
INCLUDE = re.compile(r'^\s*#\s*include\s+(<[^>]+>|"[^"]+")')


def layer_of(path):
    """The layer of a file given relative to the root, or None for a file of no layer (tests)."""
    parts = path.parts
    if "include" in parts and parts[-2] == "dccp":
        return PUBLIC_LAYER.get(path.stem, "endpoint")
    if parts[0] == "stack" and len(parts) > 2:
        return parts[1]
    if parts[0] == "ccid":
        return "ccid"
    if parts[:2] == ("apps", "examples"):
        return "examples"
    return "apps" if parts[0] == "apps" else None


def target_layer(root, source, text):
    """The layer that the quoted include `text` of `source` leads to, or an error in words."""
    if text.startswith("dccp/"):
        for base in ("stack/include", "ccid/include"):
            if (root / base / text).exists():
                return layer_of(pathlib.Path(base) / text), None
        return None, "no such public header"
    if not (root / text).exists():
        if (source.parent / text).exists():
            return None, "write the path from the root of the tree"
        return None, "no such file"
    return layer_of(pathlib.Path(text)), None


def check(root):
    faults = []
    files = [p for top in ("stack", "ccid", "apps") for p in (root / top).rglob("*")]
    for source in sorted(p for p in files if p.suffix in (".h", ".cc")):
        relative = source.relative_to(root)
        layer = layer_of(relative)
        if layer not in ALLOWED:
            faults.append(f"{relative}: folder of no known layer")
            continue
        for number, line in enumerate(source.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            where, what = f"{relative}:{number}", match.group(1)
            if what.startswith("<"):
                if layer in CORE and CORE_FORBIDDEN.fullmatch(what):
                    faults.append(f"{where}: the core does without {what}")
                continue
            target, error = target_layer(root, source, what.strip('"'))
            if error:
                faults.append(f"{where}: {what}: {error}")
            elif target is None or target not in ALLOWED[layer]:
                faults.append(f"{where}: {layer} may not include {what} of {target or 'tests'}")
            elif layer == "examples" and not what.startswith('"dccp/'):
                faults.append(f"{where}: examples use the installed headers only")
    return faults


def main():
    faults = check(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
