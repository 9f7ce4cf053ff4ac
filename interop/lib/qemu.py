"""A stock kernel under qemu, without KVM: the host's file system comes by 9p."""

import shutil
import subprocess
import sys

from lib import guest

PROGRAM = "qemu-system-x86_64"


class Machine:
    """What guest.Guests needs to boot such a guest; see guest.UserMode."""

    MEMORY_MIB = 512
    BOOT_SECONDS = 400  # emulated: ten times as slow as the host
    PROGRAMS = ("guest_boot",)

    def __init__(self):
        if not shutil.which(PROGRAM):
            raise guest.Unavailable(f"no {PROGRAM} (package: qemu-system-x86)")
        sys.path.insert(0, str(guest.INTEROP / "kernel"))
        import stock  # pylint: disable=import-outside-toplevel

        self.cpio = stock.cpio
        try:
            self.folder = stock.prepare()
        except (stock.Unavailable, OSError, subprocess.SubprocessError) as error:
            raise guest.Unavailable(str(error)) from error

    def prepare(self, guests):
        """The first file system: the modules, and the program that loads them."""
        program = (guests.bin / "guest_boot").read_bytes()
        archive = (self.folder / "modules.cpio").read_bytes()
        archive += self.cpio([("init", 0o100755, program)])
        (guests.work / "initramfs").write_bytes(archive)
        return {}

    def command(self, guests, number):
        line = ["console=ttyS0", "quiet", "panic=1", "mitigations=off", *guests.parameters(number),
                "udccp.tag=work"]
        return [PROGRAM, "-machine", "q35,accel=tcg", "-cpu", "max", "-m", str(self.MEMORY_MIB),
                "-nodefaults", "-display", "none", "-no-reboot", "-serial", "stdio",
                "-kernel", str(self.folder / "vmlinuz"), "-initrd", str(guests.work / "initramfs"),
                "-append", " ".join(line), *_share("root", "/", "readonly=on,"),
                *_share("work", str(guests.work), "")]


def _share(tag, path, more):
    return ["-virtfs", f"local,path={path},mount_tag={tag},{more}security_model=none,"
            "multidevs=remap"]
