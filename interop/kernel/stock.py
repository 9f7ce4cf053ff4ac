"""Prepares a stock Debian kernel of a newer series for qemu: its image, and an archive of the modules
that DCCP and the test network need. Both stay in the user's cache.

usage: stock.py    fetch what is missing, print the folder

Environment: UDCCP_STOCK_PACKAGE  a linux-image-*.deb to use instead of fetching one
             UDCCP_MIRROR         Debian's mirror, else http://deb.debian.org/debian
"""

import io
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

MIRROR = os.environ.get("UDCCP_MIRROR", "http://deb.debian.org/debian")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# 6.12 is the last long-term series with DCCP. Where its packages are, the best source first.
SUITES = ("bookworm-backports", "trixie")
PACKAGE = re.compile(r"linux-image-6\.12\.[0-9.]+\+deb[0-9.]+-amd64")
MODULES = ("9p", "9pnet_virtio", "veth", "tun", "sch_netem", "sch_tbf", "dccp_ipv4", "dccp_ipv6",
           "dccp_diag")
NEEDED = ("CONFIG_IP_DCCP=m", "CONFIG_IP_DCCP_CCID3=y", "CONFIG_VIRTIO_PCI=y", "CONFIG_IPV6=y",
          "CONFIG_PACKET=y", "CONFIG_DEVTMPFS=y")


class Unavailable(Exception):
    """It cannot be had here, and why."""


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "udccp"


def cpio(files):
    """An archive as the kernel unpacks it (newc), of (name, mode, bytes)."""
    out = io.BytesIO()
    for number, (name, mode, data) in enumerate([*files, ("TRAILER!!!", 0, b"")], 1):
        encoded = name.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
        out.write(b"070701" + b"".join(b"%08X" % field for field in fields) + encoded)
        out.write(b"\0" * (-out.tell() % 4) + data)
        out.write(b"\0" * (-out.tell() % 4))
    return out.getvalue()


def _version(name):
    return [int(number) for number in re.findall(r"\d+", name)]


def _apt(work, suite):
    """apt with lists and a cache of its own: neither root nor the system's sources are touched."""
    for folder in ("lists/partial", "cache/archives/partial"):
        (work / folder).mkdir(parents=True, exist_ok=True)
    (work / "sources").write_text(f"deb [signed-by={KEYRING}] {MIRROR} {suite} main\n")
    return ["-o", f"Dir::Etc::SourceList={work}/sources", "-o", "Dir::Etc::SourceParts=/dev/null",
            "-o", f"Dir::State::Lists={work}/lists", "-o", f"Dir::Cache={work}/cache",
            "-o", "Acquire::Languages=none", "-o", "APT::Architecture=amd64",
            "-o", "APT::Sandbox::User="]


def _run(argv, work):
    return subprocess.run(argv, cwd=work, capture_output=True, text=True, check=False)


def _fetch(work):
    """The newest package of the series that one of the suites has."""
    if not shutil.which("apt-get") or not pathlib.Path(KEYRING).exists():
        raise Unavailable("not a Debian system: set UDCCP_STOCK_PACKAGE to a linux-image-6.12*.deb")
    reason = "no suite has it"
    for suite in SUITES:
        options = _apt(work, suite)
        done = _run(["apt-get", "-qq", *options, "update"], work)
        found = _run(["apt-cache", *options, "search", "--names-only", "linux-image-6.12"], work)
        names = {line.split()[0] for line in found.stdout.splitlines() if line.strip()}
        names = sorted(filter(PACKAGE.fullmatch, names), key=_version)
        if not names:
            reason = done.stderr.strip().splitlines()[-1:] or [f"none in {suite}"]
            reason = reason[0]
            continue
        print(f"kernel: fetching {names[-1]} from {suite} (about 100 MB)", file=sys.stderr)
        done = _run(["apt-get", "-qq", *options, "download", names[-1]], work)
        packages = list(work.glob(names[-1] + "_*.deb"))
        if packages:
            return packages[0]
        reason = done.stderr.strip().splitlines()[-1:] or ["nothing came"]
        reason = reason[0]
    raise Unavailable(f"no kernel package: {reason}")


class Package:
    """The files of a kernel's package that are wanted."""

    def __init__(self, path):
        self.config, self.image, self.modules = "", b"", {}
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(path)],
                              stdout=subprocess.PIPE) as unpack:
            with tarfile.open(fileobj=unpack.stdout, mode="r|") as archive:
                for member in archive:
                    if member.isfile():
                        self._take(member.name, archive.extractfile(member))
        if not self.image:
            raise Unavailable(f"{path} holds no kernel")

    def _take(self, name, source):
        base = os.path.basename(name)
        if base.startswith("vmlinuz-"):
            self.image, self.release = source.read(), base.removeprefix("vmlinuz-")
        elif base.startswith("config-"):
            self.config = source.read().decode()
        elif re.search(r"\.ko(\.xz)?$", base) and re.search(
                r"/kernel/(fs|lib|crypto|arch/x86/crypto|net/(9p|dccp|sched|ipv4)|drivers/net)/", name):
            self.modules[re.split(r"\.ko", base)[0].replace("-", "_")] = (base, source.read())

    def module(self, name):
        base, data = self.modules[name]
        return lzma.decompress(data) if base.endswith(".xz") else data

    def in_order(self, wanted):
        """The names of modules, each after those that it depends on."""
        order = []

        def add(name):
            if name in order:
                return
            if name not in self.modules:
                raise Unavailable(f"the kernel's package lacks the module {name}")
            needs = re.search(rb"\0depends=([^\0]*)\0", self.module(name))
            for other in needs.group(1).decode().split(",") if needs else ():
                if other:
                    add(other.replace("-", "_"))
            order.append(name)

        for name in wanted:
            add(name)
        return order


def _modules_archive(package):
    files = [("modules", 0o40755, b"")]
    order = package.in_order(MODULES)
    files += [(f"modules/{name}.ko", 0o100644, package.module(name)) for name in order]
    text = "".join(f"/modules/{name}.ko\n" for name in order)
    return cpio(files + [("modules/order", 0o100644, text.encode())])


def _place_of(path, cache):
    package = Package(path)
    missing = [line for line in NEEDED if line not in package.config.splitlines()]
    if missing:
        raise Unavailable(f"the kernel {package.release} has no {', '.join(missing)}")
    place = cache / f"stock-{package.release}"
    new = pathlib.Path(tempfile.mkdtemp(prefix="new.", dir=cache))
    (new / "vmlinuz").write_bytes(package.image)
    (new / "config").write_text(package.config)
    (new / "modules.cpio").write_bytes(_modules_archive(package))
    new.chmod(0o755)
    shutil.rmtree(place, ignore_errors=True)
    new.rename(place)
    return place


def prepare():
    """The folder of a stock kernel: vmlinuz, config, modules.cpio."""
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    given = os.environ.get("UDCCP_STOCK_PACKAGE")
    if given:
        if not os.path.exists(given):
            raise Unavailable(f"UDCCP_STOCK_PACKAGE: no {given}")
        return _place_of(given, cache)
    ready = sorted(cache.glob("stock-*"), key=lambda place: _version(place.name))
    if ready:
        return ready[-1]
    with tempfile.TemporaryDirectory(dir=cache) as work:
        return _place_of(_fetch(pathlib.Path(work)), cache)


if __name__ == "__main__":
    try:
        print(prepare())
    except Unavailable as error:
        print(f"kernel: {error}", file=sys.stderr)
        sys.exit(77)
