"""The test network of a guest: two hosts and a router, each a network namespace.

    A: kernel 10.33.1.2, stack behind tun0 10.33.11.2 --- R --- B: 10.33.2.2, 10.33.12.2

and the same with fd33:1::2 and so on. Packets from A to B leave R by rb, those to A by ra; both
devices have a netem queue.
"""

import ctypes
import json
import os
import re
import signal
import subprocess

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
DEVICES = {"ab": "rb", "ba": "ra"}


def _command_line(name):
    with open("/proc/cmdline", encoding="ascii") as line:
        found = re.search(rf"\b{re.escape(name)}=(\S+)", line.read())
    return found.group(1) if found else None


def run(*argv, at=None, text=None):
    done = subprocess.run(argv, input=text, capture_output=True, text=True, check=False,
                          preexec_fn=_enter(at))
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(argv)}: {done.stderr.strip()}")
    return done.stdout


def _enter(namespace):
    if namespace is None:
        return None
    fd = os.open(f"/run/netns/{namespace}", os.O_RDONLY | os.O_CLOEXEC)

    def enter():
        if LIBC.setns(fd, CLONE_NEWNET) != 0:
            os._exit(126)
    return enter


def start(namespace, argv, **pipes):
    for name in ("bin", "interop"):
        argv = [word.replace("{" + name + "}", _command_line("udccp." + name)) for word in argv]
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, preexec_fn=_enter(namespace), **pipes)


def sysctl(name, value):
    with open("/proc/sys/" + name.replace(".", "/"), "w", encoding="ascii") as out:
        out.write(str(value))


def build():
    run("ip", "-batch", "-", text="".join(f"netns add {n}\n" for n in "ARB"))
    run("ip", "link", "set", "lo", "up")
    run("ip", "-batch", "-", text="""\
link add a0 netns A type veth peer name ra netns R
link add b0 netns B type veth peer name rb netns R
""")
    for host, peer, n in (("A", "ra", 1), ("B", "rb", 2)):
        device = f"{host.lower()}0"
        run("ip", "-n", host, "-batch", "-", text=f"""\
link set lo up
addr add 10.33.{n}.2/24 dev {device}
addr add fd33:{n}::2/64 dev {device} nodad
link set {device} up
tuntap add dev tun0 mode tun
addr add 10.33.1{n}.1/24 dev tun0
addr add fd33:1{n}::1/64 dev tun0 nodad
link set tun0 up txqueuelen 2000
route add default via 10.33.{n}.1
route add default via fd33:{n}::1
""")
        run("ip", "-n", "R", "-batch", "-", text=f"""\
addr add 10.33.{n}.1/24 dev {peer}
addr add fd33:{n}::1/64 dev {peer} nodad
link set {peer} up
route add 10.33.1{n}.0/24 via 10.33.{n}.2
route add fd33:1{n}::/48 via fd33:{n}::2
""")
    for namespace in "ARB":
        run("sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward; "
            "echo 1 >/proc/sys/net/ipv6/conf/all/forwarding", at=namespace)
    for device in DEVICES.values():
        run("tc", "qdisc", "add", "dev", device, "root", "netem", "limit", "10000", at="R")


def add_tuns(count):
    """tun0 serves one process: more devices, tunK with fd33:11:0:K::2 at A, fd33:12:0:K::2 at B."""
    for host, n in (("A", 1), ("B", 2)):
        there = int(run("sh", "-c", "ls -d /proc/sys/net/ipv4/conf/tun* | wc -l", at=host))
        run("ip", "-n", host, "-batch", "-", text="".join(f"""\
tuntap add dev tun{k} mode tun
addr add fd33:1{n}:0:{k:x}::1/64 dev tun{k} nodad
link set tun{k} up txqueuelen 2000
""" for k in range(there, count)))


def set_path(path, change=False):
    """Gives each direction its netem parameters; counters start afresh unless it is a change."""
    text = ""
    for direction, device in DEVICES.items():
        netem = f"dev {device} root netem limit 10000 {path[direction]}"
        if change:
            text += f"qdisc change {netem}\n"
        else:
            text += f"qdisc del dev {device} root\nqdisc add {netem}\n"
    run("tc", "-batch", "-", at="R", text=text)


def queue_figures():
    text = run("tc", "-s", "qdisc", "show", at="R")
    figures = {}
    for direction, device in DEVICES.items():
        found = re.search(rf"netem \S+ dev {device} .*?Sent (\d+) bytes (\d+) pkt "
                          r"\(dropped (\d+), overlimits (\d+)", text, re.S)
        if found:
            figures[direction] = {"sent": int(found.group(2)), "dropped": int(found.group(3))}
    return figures


def start_capture(port, folder, keep=True):
    """At both sides of the router: what A sent and got, what B sent and got."""
    files = {"ra": f"{folder}/A.pcap", "rb": f"{folder}/B.pcap"}
    process = start("R", ["{bin}/capture", str(port)] + [
        f"{device}={file if keep else '-'}" for device, file in files.items()],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if process.stdout.readline() != b"ready\n":
        raise RuntimeError("capture: " + process.stdout.read().decode(errors="replace"))
    return process


def stop_capture(process):
    """Counts by device."""
    process.send_signal(signal.SIGTERM)
    lines = process.communicate()[0].decode(errors="replace").splitlines()
    counts = [json.loads(line) for line in lines]
    return {count.pop("device"): count for count in counts}


def kernel_log():
    try:
        text = subprocess.run(["dmesg"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return []
    return [line for line in text.splitlines() if re.search(r"dccp|BUG|ccid|WARN", line, re.I)][-40:]
