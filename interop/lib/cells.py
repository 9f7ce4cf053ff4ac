"""The matrix: its dimensions, its cells, and the jobs that they are for a guest."""

import itertools

DIMENSIONS = {
    "role": ("stack-to-kernel", "kernel-to-stack"),  # client to server
    "family": ("v4", "v6"),
    "ccid": ("2", "3", "prefer-2", "prefer-3"),
    "data": ("one-way", "two-way"),
    "close": ("client", "server", "both", "abort-client", "abort-server", "vanish"),
    "path": ("clean", "loss-1", "loss-10", "reorder", "duplicate"),
}
# The preferences of client and server; a server's preference counts. RFC 4340 §6.3.1
CCIDS = {
    "2": ("2", "2", 2), "3": ("3", "3", 3),
    "prefer-2": ("3,2", "2,3", 2), "prefer-3": ("2,3", "3,2", 3),
    "none-2": ("2", "3", None), "none-3": ("3", "2", None),
}
DELAY = "delay 10ms"
PATHS = {
    "clean": DELAY, "loss-1": DELAY + " loss 1%", "loss-10": DELAY + " loss 10%",
    "reorder": DELAY + " reorder 5%", "duplicate": DELAY + " duplicate 5%",
}
LOSSY = ("loss-1", "loss-10")
DATAGRAMS = 200
SIZE = 1000
FIRST_PORT = 6000
ADDRESS = {  # of kernel and stack, by host and family
    ("kernel", "A", "v4"): "10.33.1.2", ("kernel", "B", "v4"): "10.33.2.2",
    ("stack", "A", "v4"): "10.33.11.2", ("stack", "B", "v4"): "10.33.12.2",
    ("kernel", "A", "v6"): "fd33:1::2", ("kernel", "B", "v6"): "fd33:2::2",
    ("stack", "A", "v6"): "fd33:11::2", ("stack", "B", "v6"): "fd33:12::2",
}
# What overtakes other packets by more than a quarter of the Sequence Window makes them invalid
# (RFC 4340 §7.5.1), and Linux over CCID 3 never asks for more than it begins with.
SEQUENCE_WINDOWS = {"reorder": 1000}
USER_TIMEOUT = 3
KERNEL_WAIT = 4.5  # its bound: it would go on for minutes


def all_cells():
    """Every cell; those without a common CCID have neither data nor an end to vary."""
    names = list(DIMENSIONS)
    cells = [dict(zip(names, values)) for values in itertools.product(*DIMENSIONS.values())]
    for role, family, ccid, path in itertools.product(
            DIMENSIONS["role"], DIMENSIONS["family"], ("none-2", "none-3"), DIMENSIONS["path"]):
        cells.append({"role": role, "family": family, "ccid": ccid, "data": "-", "close": "-",
                      "path": path})
    return cells


def pairwise_cells():
    """The smallest set that a greedy search finds in which each pair of values meets."""
    full = [c for c in all_cells() if c["close"] != "-"]

    def pairs(cell):
        return set(itertools.combinations(sorted(cell.items()), 2))

    left = set().union(*map(pairs, full))
    chosen = []
    while left:
        best = max(full, key=lambda c: len(pairs(c) & left))
        left -= pairs(best)
        chosen.append(best)
    # Without a common CCID: both roles, families and sides.
    for role, family, ccid in (
            ("stack-to-kernel", "v4", "none-2"), ("stack-to-kernel", "v6", "none-3"),
            ("kernel-to-stack", "v6", "none-2"), ("kernel-to-stack", "v4", "none-3")):
        chosen.append({"role": role, "family": family, "ccid": ccid, "data": "-", "close": "-",
                       "path": "clean"})
    return chosen


def capture_cells():
    """A cell of each class, for the captures that the unit tests replay."""
    chosen = []
    for role, ccid in itertools.product(DIMENSIONS["role"], ("2", "3")):
        for family, close, path in (
                ("v4", "client", "clean"), ("v6", "server", "clean"), ("v4", "both", "clean"),
                ("v6", "abort-client", "clean"), ("v4", "abort-server", "clean"),
                ("v6", "client", "loss-10"), ("v4", "server", "reorder"),
                ("v6", "client", "duplicate"), ("v4", "vanish", "clean")):
            chosen.append({"role": role, "family": family, "ccid": ccid, "data": "two-way",
                           "close": close, "path": path})
    for role, ccid in itertools.product(DIMENSIONS["role"], ("prefer-2", "prefer-3")):
        chosen.append({"role": role, "family": "v4", "ccid": ccid, "data": "one-way",
                       "close": "client", "path": "clean"})
    return chosen + [{"role": role, "family": "v4", "ccid": ccid, "data": "-", "close": "-",
                      "path": "clean"}
                     for role, ccid in itertools.product(DIMENSIONS["role"], ("none-2", "none-3"))]


def name(cell):
    return ".".join(cell[d] for d in DIMENSIONS if cell[d] != "-")


def sender(cell):
    """Who sends in a one-way cell: the client in one half of them, the server in the other."""
    half = DIMENSIONS["family"].index(cell["family"]) + DIMENSIONS["path"].index(cell["path"])
    return "client" if half % 2 == 0 else "server"


def kinds(cell):
    """The stack of client and server: "stack" or "kernel"."""
    return tuple(cell["role"].split("-to-"))


def sends(cell, end):
    return cell["close"] != "-" and (cell["data"] == "two-way" or sender(cell) == end)


def peer_argv(cell, end, port, datagrams, size):
    client_kind, server_kind = kinds(cell)
    kind = client_kind if end == "client" else server_kind
    host = "A" if end == "client" else "B"
    vanish = cell["close"] == "vanish"
    argv = ["{bin}/stack_peer" if kind == "stack" else "{bin}/kernel_peer"]
    argv += ["--ccids", CCIDS[cell["ccid"]][0 if end == "client" else 1]]
    # Long enough for five Requests of Linux, which follow each other after 3, 6, 12 and 24 s.
    argv += ["--size", str(size), "--connect-wait", "50" if cell["close"] != "-" else "8"]
    if sends(cell, end):
        argv += ["--send", str(datagrams * 10 if vanish else datagrams)]
        if vanish:
            argv += ["--rate", str(datagrams)]
    if sends(cell, "server" if end == "client" else "client"):
        argv += ["--expect"]
    if kind == "stack":
        argv += ["--tun", "tun0"]
        argv += ["--sequence-window", str(SEQUENCE_WINDOWS.get(cell["path"], 100))]
        argv += ["--bind", ADDRESS["stack", host, cell["family"]]] if end == "client" else []
        if vanish:
            argv += ["--user-timeout", str(USER_TIMEOUT), "--keep-alive", "1"]
    else:
        argv += ["--buffer", "2000000"]
    server = ADDRESS[server_kind, "B", cell["family"]]
    return argv + ["listen" if end == "server" else "connect", server, str(port)]


def finale(cell):
    close = cell["close"]
    if close == "vanish":
        kernel = ("client", "server")[kinds(cell).index("kernel")]
        return [[0.5, "cut"], [KERNEL_WAIT, "stop", kernel]]
    if close == "both":
        return [[0, "close", "client", "server"]]
    if close in ("client", "server"):
        return [[0, "close", close]]
    if close.startswith("abort-"):
        return [[0, "abort", close.removeprefix("abort-")]]
    return [[0.3, "stop", "server"]]  # the client was refused


def job(cell, number, datagrams=DATAGRAMS, size=SIZE):
    port = FIRST_PORT + number % 50000
    netem = PATHS[cell["path"]]
    return {
        "id": f"{number:04d}.{name(cell)}", "cell": cell, "port": port,
        "datagrams": datagrams, "size": size,
        "path": {"ab": netem, "ba": netem},
        "sysctl": {"net.dccp.default.seq_window": SEQUENCE_WINDOWS.get(cell["path"], 100)},
        "ready": {"vanish": "connected", "-": "end"}.get(cell["close"], "complete"),
        "ready_of": ["client"] if cell["close"] == "-" else ["client", "server"],
        "finale": finale(cell), "limit": 120, "tail": 0.3,
        "peers": [
            {"name": "server", "at": "B", "argv": peer_argv(cell, "server", port, datagrams, size),
             "after": "listening"},
            {"name": "client", "at": "A", "argv": peer_argv(cell, "client", port, datagrams, size)},
        ],
    }
