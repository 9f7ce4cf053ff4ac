#!/usr/bin/env python3
"""Writes the first inputs: of fuzz_packet and fuzz_options from the captures of tests/data, of
fuzz_endpoint and fuzz_pair as short programs in their language of bytes.

usage: make_seeds.py DATA_FOLDER CORPUS_FOLDER
"""

import hashlib
import pathlib
import struct
import sys

FIXED = {0: 20, 1: 28, 2: 16, 3: 24, 4: 24, 5: 24, 6: 24, 7: 28, 8: 24, 9: 24}


def packets(folder):
    """The packets that a Linux kernel sent, from their DCCP header on."""
    for path in sorted(folder.glob("linux61_*.txt")):
        for line in path.read_text().splitlines():
            if line and not line.startswith("#"):
                *_, header, data = line.split()
                yield bytes.fromhex(header) + (b"" if data == "-" else bytes.fromhex(data))


def option_area(packet):
    kind = packet[8] >> 1 & 15
    extended = packet[8] & 1
    fixed = FIXED[kind] - (0 if extended else 4 if kind == 2 else 8)
    return kind, packet[fixed : 4 * packet[4]]


def shape(packet):
    """Packets of one shape teach a fuzzer the same: one of each is enough."""
    kind, options = option_area(packet)
    types = []
    while options:
        step = 1 if options[0] < 32 else options[1]
        types.append((options[0], step))
        options = options[step:]
    return kind, packet[8] & 1, tuple(types), packet[5]


def write(folder, data):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha1(data).hexdigest()[:16]).write_bytes(data)


# Calls of Node::Call: a datagram of 100 bytes, Read, Close, and so on for connection 0.
SEND, READ, STOP, SLOW = [0, 0, 100], [3, 0, 15], [5, 0], [6, 0, 1]
CLOSE, ABORT, RELEASE = [7, 0, 10], [8, 0, 2], [9, 0]


def pair_programs():
    """Openings with some options on each side, data both ways, each kind of end."""
    client, server, deliver = 12, 12 | 16, [0]
    for flags in (0, 1, 2):
        for options in (0, 2, 8, 10, 16, 32, 64, 128, 255):
            start = [flags, options, 0, options, 0, 5] + deliver * 4
            talk = ([client] + SEND) * 3 + deliver * 2 + [server] + READ + [server] + SEND
            talk += deliver * 2 + [client] + READ
            for end in (CLOSE, ABORT, RELEASE, STOP + [client] + SEND, SLOW):
                for who in (client, server):
                    yield bytes(start + talk + [who] + end + deliver * 4 + [1])


def endpoint_programs():
    """The endpoint opens as client or as server, answered well, then one packet of every type."""
    reply, pause = [3, 0], [8, 50]
    connect = [11, 0, 0, 0]
    request = [0, 0, 0, 0, 0, 0, 0, 0]
    call = [12]
    for flags in (0, 1):
        for options in (0, 2, 8, 16, 255):
            for start in (connect + reply, request + reply, connect + request):
                head = [flags, options, 0] + start + reply + pause + call + SEND + reply * 2
                for kind in range(10):
                    strange = [0, 0, kind, 0, 0] + [0] * (4 if kind == 7 else 0) + [10, 0, 0]
                    yield bytes(head + strange + reply + call + READ + call + CLOSE + reply * 2)


def main():
    data, corpus = map(pathlib.Path, sys.argv[1:3])
    seen = {}
    for packet in packets(data):
        seen.setdefault(shape(packet), packet)
    for packet in seen.values():
        write(corpus / "fuzz_packet", packet)
        kind, options = option_area(packet)
        for flags in (0, 1, 7):
            if options:
                head = struct.pack("BBB", flags, kind, len(options) // 4)
                write(corpus / "fuzz_options", head + options)
    for program in pair_programs():
        write(corpus / "fuzz_pair", program)
    for program in endpoint_programs():
        write(corpus / "fuzz_endpoint", program)


if __name__ == "__main__":
    main()
