"""Boots guests with the kernel peer, gives them jobs, and ends them whatever happens."""

import json
import os
import pathlib
import signal
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
INTEROP = ROOT / "interop"

class Unavailable(Exception):
    """There is no kernel peer on this machine, and why."""


def kernel_path(cached_only=False):
    """The kernel's program; builds it where it is not in the cache."""
    command = ["bash", str(INTEROP / "kernel/build.sh")] + (["--cached"] if cached_only else [])
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE if cached_only
                          else None, text=True, check=False)
    if done.returncode != 0:
        reason = (done.stderr or "").strip().removeprefix("kernel: ")
        raise Unavailable(reason or "the kernel cannot be built here, see above")
    return done.stdout.strip()


class UserMode:
    """A kernel that is a program (user-mode Linux): its root is the host's file system."""

    MEMORY_MIB = 256
    BOOT_SECONDS = 120  # a second on a machine that is not busy
    PROGRAMS = ()

    def __init__(self, kernel):
        self.kernel = kernel

    def prepare(self, guests):
        """What the guests' processes need of the environment."""
        return {"TMPDIR": memory_folder((self.MEMORY_MIB << 20) * guests.count)}

    def command(self, guests, number):
        return [self.kernel, f"mem={self.MEMORY_MIB}M", "root=/dev/root", "rootfstype=hostfs",
                "rootflags=/", "ro", "con=null", "con0=null,fd:1", "ssl=null", "quiet", "panic=1",
                f"umid=udccp{os.getpid()}-{number}", f"uml_dir={guests.work}",
                *guests.parameters(number)]


def programs(folder, more=()):
    """Checks that the folder holds the programs of a run; returns it as a path."""
    folder = pathlib.Path(folder).resolve()
    for name in ("stack_peer", "kernel_peer", "capture", "dccp-dump", "dccp-recv", *more):
        if not (folder / name).exists():
            raise Unavailable(f"no {name} in {folder}: ./dev build makes it")
    return folder


def memory_folder(bytes_needed):
    """A folder for the guests' memory: shared memory where it is large enough."""
    for folder in ("/dev/shm", tempfile.gettempdir()):
        try:
            space = os.statvfs(folder)
        except OSError:
            continue
        if space.f_bavail * space.f_frsize > bytes_needed and os.access(folder, os.W_OK):
            return folder
    raise Unavailable(f"no room for {bytes_needed >> 20} MB of guest memory")


class Guests:
    """A work folder and the guests that work on its jobs: `with Guests(...) as guests`."""

    def __init__(self, bin_folder, count, machine=None, keep=None):
        self.machine = machine or UserMode(kernel_path())
        self.bin = programs(bin_folder, self.machine.PROGRAMS)
        self.count = count
        self.keep = keep
        self.work = pathlib.Path(keep) if keep else pathlib.Path(
            tempfile.mkdtemp(prefix="udccp-interop."))
        self.processes = []
        self.logs = []

    def __enter__(self):
        if self.keep:
            shutil.rmtree(self.work, ignore_errors=True)
            self.work.mkdir(parents=True)
        self.previous = signal.signal(signal.SIGTERM, self._terminated)
        return self

    def __exit__(self, *_):
        self.stop()
        signal.signal(signal.SIGTERM, self.previous)
        if not self.keep:
            shutil.rmtree(self.work, ignore_errors=True)

    @staticmethod
    def _terminated(*_):
        raise SystemExit(143)

    def start(self, jobs):
        """Boots the guests; they begin with the jobs at once."""
        plain = [{key: value for key, value in job.items() if key != "defect"} for job in jobs]
        (self.work / "jobs.json").write_text(json.dumps(plain), encoding="utf-8")
        environment = {**os.environ, **self.machine.prepare(self)}
        for number in range(self.count):
            log = open(self.work / f"guest-{number}.log", "wb")
            self.logs.append(log)
            self.processes.append(subprocess.Popen(
                self.machine.command(self, number), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=environment, start_new_session=True))
        self._await_boot()

    def parameters(self, number):
        """What guest/init and the agent read from the kernel's command line."""
        return [f"init={INTEROP}/guest/init", f"udccp.work={self.work}",
                f"udccp.agent={INTEROP}/guest/agent.py", f"udccp.bin={self.bin}",
                f"udccp.interop={INTEROP}", f"udccp.guest={number}"]

    def _await_boot(self):
        until = time.monotonic() + self.machine.BOOT_SECONDS
        waiting = set(range(self.count))
        while waiting:
            waiting = {n for n in waiting if not (self.work / f"ready-{n}.json").exists()}
            dead = [n for n in waiting if self.processes[n].poll() is not None]
            if dead or (waiting and time.monotonic() > until):
                raise Unavailable(f"the guest does not boot here (load {os.getloadavg()[0]:.0f}, "
                                  f"{os.cpu_count()} processors): {self.log_tail(min(waiting))}")
            time.sleep(0.02)

    def log_tail(self, number):
        text = (self.work / f"guest-{number}.log").read_text(errors="replace").strip()
        return " | ".join(line.strip() for line in text.splitlines()[-4:]) or "it says nothing"

    def boot_figures(self):
        return [json.loads((self.work / f"ready-{n}.json").read_text()) for n in range(self.count)]

    def results(self, jobs, until=float("inf")):
        """Yields (job, result) in the order in which they end; a dead guest ends the rest, and the
        time `until` leaves them out."""
        left = {job["id"]: job for job in jobs}
        while left and time.monotonic() < until:
            alive = any(process.poll() is None for process in self.processes)
            ended = [i for i in left if (self.work / i / "result.json").exists()]
            for identity in ended:
                path = self.work / identity / "result.json"
                yield left.pop(identity), json.loads(path.read_text(encoding="utf-8"))
            if not ended and not alive:
                for identity in list(left):
                    yield left.pop(identity), {"id": identity, "peers": [], "notes": [
                        "the guest ended before: " + self.log_tail(0)]}
            if not ended:
                time.sleep(0.1)

    def stop(self):
        for process in self.processes:
            for number in (signal.SIGTERM, signal.SIGKILL):
                if process.poll() is not None:
                    break
                os.killpg(process.pid, number)
                try:
                    process.wait(2)
                except subprocess.TimeoutExpired:
                    pass
            # The processes of the guest are the host's too.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for log in self.logs:
            log.close()
        self.processes, self.logs = [], []
