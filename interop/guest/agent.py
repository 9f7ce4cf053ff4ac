"""The first real process of a guest: makes the test network and runs the jobs it finds.

usage: agent.py WORK GUEST

WORK/jobs.json is a list of jobs, which the guests of a run share: each takes the next that nobody
has taken, by making the folder WORK/<id>, and leaves result.json there. lib/guest.py writes the
jobs and reads the results.

A job is a dictionary:
  id, limit         its folder; seconds after which it is ended
  path              {"ab": NETEM, "ba": NETEM}, see network.py
  sysctl            {NAME: VALUE}, optional
  tuns              how many TUN devices each host has, 1 unless given
  port, keep        DCCP port to capture or null; whether packets are kept or only counted
  peers             [{"name", "at": "A", "B" or "R", "argv", "after"}], started in this order, the
                    next one when this has printed the event `after`
  ready, ready_of   the event to wait for before the finale ("complete"), and of whom (all)
  finale            [[DELAY, ACTION, PEER...]]: close, abort, kill, stop, or cut (the path)
  tail              seconds of capturing after the end
"""

import ctypes
import json
import os
import selectors
import signal
import subprocess
import sys
import time
import traceback

import network

LIBC = ctypes.CDLL(None, use_errno=True)
POWER_OFF = 0x4321FEDC


class Peer:
    """One process of a job, in one network namespace, and the events it printed."""

    def __init__(self, spec, folder):
        self.spec = spec
        self.name = spec["name"]
        self.events = []
        self.buffer = b""
        self.errors = open(f"{folder}/{self.name}.err", "wb")
        self.process = network.start(
            spec["at"], spec["argv"], stdout=subprocess.PIPE, stderr=self.errors)
        os.set_blocking(self.process.stdout.fileno(), False)

    def read(self):
        """False: its output has ended."""
        chunk = self.process.stdout.read()
        if chunk == b"":
            return False
        self.buffer += chunk or b""
        *lines, self.buffer = self.buffer.split(b"\n")
        for line in lines:
            try:
                self.events.append(json.loads(line))
            except ValueError:
                self.events.append({"event": "text", "text": line.decode(errors="replace")})
        return True

    def has(self, *names):
        return any(event.get("event") in names for event in self.events)

    def running(self):
        return self.process.poll() is None

    def result(self):
        self.errors.close()
        with open(self.errors.name, errors="replace") as errors:
            text = errors.read(2000)
        return {"name": self.name, "events": self.events, "stderr": text,
                "exit": self.process.returncode}


class Job:
    def __init__(self, spec, folder):
        self.spec = spec
        self.folder = folder
        self.peers = []
        self.selector = selectors.DefaultSelector()
        self.notes = []
        self.until = time.monotonic() + spec["limit"]

    def turn(self, seconds):
        for key, _ in self.selector.select(max(0.0, seconds)):
            if not key.data.read():
                self.selector.unregister(key.fileobj)
        if not self.selector.get_map():
            time.sleep(max(0.0, min(seconds, 0.02)))

    def wait(self, condition, seconds=None):
        """Runs until the condition holds; False at the job's limit, or after `seconds`."""
        until = self.until if seconds is None else min(self.until, time.monotonic() + seconds)
        while not condition():
            if time.monotonic() >= until:
                return False
            self.turn(min(0.05, until - time.monotonic()))
        return True

    def start(self, spec):
        peer = Peer(spec, self.folder)
        self.peers.append(peer)
        self.selector.register(peer.process.stdout, selectors.EVENT_READ, peer)
        if spec.get("after") and not self.wait(
                lambda: peer.has(spec["after"], "end") or not peer.running(), 60):
            self.notes.append(f"{peer.name}: never {spec['after']}")

    def act(self, action, names):
        if action == "cut":
            network.set_path({"ab": "loss 100%", "ba": "loss 100%"}, change=True)
            return
        number = {"close": signal.SIGUSR1, "abort": signal.SIGUSR2, "kill": signal.SIGKILL,
                  "stop": signal.SIGTERM}[action]
        for peer in self.peers:
            if peer.name in names and peer.running():
                peer.process.send_signal(number)

    def run(self):
        spec = self.spec
        for name, value in spec.get("sysctl", {}).items():
            network.sysctl(name, value)
        network.add_tuns(spec.get("tuns", 1))
        network.set_path(spec["path"])
        capture = None
        if spec.get("port") is not None:
            capture = network.start_capture(spec["port"], self.folder, spec.get("keep", True))
        for peer in spec["peers"]:
            self.start(peer)
        begun = time.monotonic()
        ready = spec.get("ready", "complete")
        waited = [p for p in self.peers if p.name in spec.get("ready_of", [p.name])]
        self.wait(lambda: all(p.has(ready, "end") or not p.running() for p in waited))
        for delay, action, *names in spec.get("finale", []):
            self.wait(lambda: False, delay)
            self.act(action, names)
        if not self.wait(lambda: not any(p.running() for p in self.peers)):
            self.notes.append("limit reached: " + ", ".join(
                p.name for p in self.peers if p.running()))
        self.wait(lambda: False, spec.get("tail", 0.1))
        for peer in self.peers:
            if peer.running():
                peer.process.kill()
            peer.process.wait()
            peer.read()
        taps = network.stop_capture(capture) if capture is not None else {}
        self.notes += [f"the capture missed packets at {device}"
                       for device, count in taps.items() if count["missed"]]
        return {"id": spec["id"], "seconds": round(time.monotonic() - begun, 3),
                "notes": self.notes, "peers": [p.result() for p in self.peers],
                "queues": network.queue_figures(), "taps": taps}


def write(path, document):
    with open(path + ".new", "w", encoding="utf-8") as out:
        json.dump(document, out)
    os.rename(path + ".new", path)


def run_jobs(work, guest):
    with open(f"{work}/jobs.json", encoding="utf-8") as source:
        jobs = json.load(source)
    for spec in jobs:
        folder = f"{work}/{spec['id']}"
        try:
            os.mkdir(folder)
        except FileExistsError:
            continue
        try:
            result = Job(spec, folder).run()
        except Exception:  # pylint: disable=broad-except  # the host has to hear of it
            result = {"id": spec["id"], "peers": [], "notes": ["agent: " + traceback.format_exc()]}
        result["guest"] = guest
        write(f"{folder}/result.json", result)


def main():
    work, guest = sys.argv[1:3]
    try:
        network.build()
        write(f"{work}/ready-{guest}.json", {"kernel": os.uname().release,
                                             "uptime": time.monotonic()})
        run_jobs(work, guest)
        write(f"{work}/done-{guest}.json", {"log": network.kernel_log()})
    except Exception:  # pylint: disable=broad-except
        traceback.print_exc()
    sys.stdout.flush()
    LIBC.sync()
    LIBC.reboot(POWER_OFF)


if __name__ == "__main__":
    main()
