"""Cells for the weaknesses of Linux's stack: in each of them ours has to do the right thing."""

from lib import cells, checks
from lib.checks import event

PORT = 9000
KERNEL_B, STACK_B = cells.ADDRESS["kernel", "B", "v4"], cells.ADDRESS["stack", "B", "v4"]
STACK_A = cells.ADDRESS["stack", "A", "v4"]


def _peer(name, kind, port, *options, family="v4"):
    """A client at A or a server at B."""
    argv = ["{bin}/stack_peer", "--tun", "tun0"] if kind == "stack" else \
        ["{bin}/kernel_peer", "--buffer", "2000000"]
    argv += [str(o) for o in options]
    if name == "client":
        other = "kernel" if kind == "stack" else "stack"
        if kind == "stack":
            argv += ["--bind", cells.ADDRESS["stack", "A", family]]
        argv += ["connect", cells.ADDRESS[other, "B", family]]
        return {"name": name, "at": "A", "argv": argv + [str(port)]}
    argv += ["listen", cells.ADDRESS[kind, "B", family], str(port)]
    return {"name": name, "at": "B", "argv": argv, "after": "listening"}


def _meddler(scenario, port, *more):
    return {"name": "meddler", "at": "R", "after": "listening",
            "argv": ["python3", "-B", "{interop}/guest/meddler.py", scenario, str(port), *more]}


class Defect:
    """One cell: how to run it and what to see. Subclasses say what Linux does wrong."""

    name = ""
    delay = "delay 10ms"
    finale = [[0, "close", "client"]]
    ready = "complete"
    limit = 100

    def peers(self, port):
        raise NotImplementedError

    def verdict(self, peers, cell):
        """Adds to cell.faults. `peers` by name, each with its events."""
        raise NotImplementedError

    def job(self, number):
        port = PORT + number
        return {"id": f"defect-{number:02d}.{self.name}", "defect": self, "port": port,
                "path": {"ab": self.delay, "ba": self.delay},
                "sysctl": {"net.dccp.default.seq_window": 100}, "ready": self.ready,
                "finale": self.finale, "limit": self.limit, "tail": 0.5,
                "peers": self.peers(port)}


def _delivered(cell, peers, end, count):
    ended = event(peers[end], "end")
    if not ended or ended["unique"] != count or ended["corrupt"]:
        cell.fault(f"{end}: {ended and ended['unique']} of {count} datagrams")


class BlindReset(Defect):
    """Linux in REQUEST believes a Reset with any acknowledgement number."""

    delay = "delay 100ms"

    def __init__(self, client):
        self.client = client
        self.name = f"blind-reset-to-{client}"

    def peers(self, port):
        server = "kernel" if self.client == "stack" else "stack"
        return [_meddler("blind-reset", port),
                _peer("server", server, port, "--expect", "--connect-wait", 4),
                _peer("client", self.client, port, "--send", 50)]

    def verdict(self, peers, cell):
        if self.client == "stack":
            _delivered(cell, peers, "server", 50)
            return
        # The defect; our server must forget the half-open connection and stay.
        if event(peers["client"], "end").get("errno") != "ECONNREFUSED":
            cell.fault(f"the kernel's client: {event(peers['client'], 'end')}")
        if event(peers["server"], "connected") or \
                event(peers["server"], "end")["outcome"] != "nobody":
            cell.fault(f"our server: {event(peers['server'], 'end')}")


class LostAck(Defect):
    """Linux sends the Ack of PARTOPEN once; only later data repairs its loss."""

    name = "single-ack-of-partopen"
    delay = "delay 300ms"

    def peers(self, port):
        return [_meddler("lose-ack", port),
                _peer("server", "stack", port, "--expect", "--send", 30),
                _peer("client", "kernel", port, "--expect", "--send", 30, "--pause", 3)]

    def verdict(self, peers, cell):
        if not event(peers["meddler"], "meddled") or not event(peers["meddler"], "meddled")["lost"]:
            cell.fault("no Ack was lost")
        _delivered(cell, peers, "server", 30)
        _delivered(cell, peers, "client", 30)


class SyncInRespond(Defect):
    """A Sync that reaches Linux in RESPOND ends the half-open connection with Reset 4."""

    name = "sync-in-respond"
    delay = "delay 300ms"

    def peers(self, port):
        return [_meddler("sync-in-respond", port),
                _peer("server", "kernel", port, "--expect", "--connect-wait", 20),
                _peer("client", "stack", port, "--send", 30, "--pause", 2)]

    def verdict(self, peers, cell):
        if not event(peers["meddler"], "sync"):
            cell.fault("the meddler did not get that far")
        _delivered(cell, peers, "server", 30)


class Mandatory(Defect):
    """Linux ignores Mandatory before an option that it does not know."""

    name = "mandatory-ignored"
    finale = [[0, "stop", "kernel", "server"]]
    ready = "listening"

    def peers(self, port):
        kernel = _peer("server", "kernel", port)
        kernel["name"] = "kernel"
        return [kernel, _peer("server", "stack", port),
                _meddler("mandatory", port, KERNEL_B, STACK_B)]

    def job(self, number):
        job = super().job(number)
        job["finale"] = [[5, "stop", "kernel", "server"]]
        return job

    def verdict(self, peers, cell):
        answers = {e["of"]: e for e in peers["meddler"]["events"] if e.get("event") == "answer"}
        if answers.get(KERNEL_B, {}).get("kind") != 1:
            cell.fault(f"the kernel: {answers.get(KERNEL_B)}, not a Response")
        if answers.get(STACK_B, {}).get("reset") != [6, 99, 7, 0]:
            cell.fault(f"our server: {answers.get(STACK_B)}, not Reset 6 with data 99 7 0")


class OptionError(Defect):
    """Linux answers an option error with a Reset but keeps its socket open."""

    DATAGRAMS = 100

    def __init__(self, of_sent):
        self.of_sent = of_sent
        self.name = "option-error-of-" + ("a-packet-sent" if of_sent else "a-forged-packet")

    def peers(self, port):
        if self.of_sent:  # the kernel goes on sending, slowly
            return [_meddler("option-error-of-sent", port),
                    _peer("server", "kernel", port, "--send", 12, "--rate", 2, "--expect"),
                    _peer("client", "stack", port, "--send", 60, "--rate", 50, "--expect",
                          "--linger", 3)]
        rate = ("--send", self.DATAGRAMS, "--rate", 20, "--expect")
        return [_meddler("option-error", port), _peer("server", "kernel", port, *rate),
                _peer("client", "stack", port, *rate)]

    def verdict(self, peers, cell):
        meddled = event(peers["meddler"], "meddled")
        if not meddled or meddled["reset"] != [5, 1, 0, 0]:
            cell.fault(f"the kernel sent no Reset 5: {meddled}")
        client, server = event(peers["client"], "end"), event(peers["server"], "end")
        if self.of_sent:
            if client["outcome"] != "eof" or client["reset"] != 5 or not client["reset_received"]:
                cell.fault(f"our client: {client['outcome']}, Reset {client['reset']}")
            if server["outcome"] not in ("eof", "broken"):
                cell.fault(f"nobody told the kernel: {server['outcome']}")
            return
        # The Reset names a packet that was never sent: we ask, and the connection goes on. What
        # acknowledges that packet too is invalid until we have sent it.
        _delivered(cell, peers, "server", self.DATAGRAMS)
        invalid = client["counters"]["sequence_invalid"]
        if client["unique"] < self.DATAGRAMS * 2 // 3 or \
                client["unique"] + invalid < self.DATAGRAMS:
            cell.fault(f"our client: {client['unique']} datagrams, {invalid} invalid packets")
        if client["reset"] != 1:
            cell.fault(f"our client ended with Reset {client['reset']}")


class Duplicates(Defect):
    """Linux hands a datagram that the network doubled to its user twice."""

    name = "duplicate-delivery"
    delay = "delay 10ms duplicate 20%"

    def peers(self, port):
        return [_peer("server", "kernel", port, "--send", 200, "--expect"),
                _peer("client", "stack", port, "--send", 200, "--expect")]

    def verdict(self, peers, cell):
        ours, theirs = event(peers["client"], "end"), event(peers["server"], "end")
        if ours["duplicates"] or ours["unique"] != 200:
            cell.fault(f"our client: {ours['unique']} datagrams, {ours['duplicates']} twice")
        if theirs["unique"] != 200:
            cell.fault(f"the kernel: {theirs['unique']} datagrams")
        if not theirs["duplicates"]:
            cell.fault("the kernel delivered none twice: is the defect gone?")


class OurMaximum(Defect):
    """Datagrams of the size that our side advertises arrive, whichever CCID and family."""

    def __init__(self, ccid, family, client):
        self.ccid, self.family, self.client = ccid, family, client
        self.name = f"our-maximum.{client}-client.{family}.{ccid}"

    def peers(self, port):
        common = ("--ccids", self.ccid, "--expect")
        ours = ("--send", 300, "--size", "mps")
        server = "kernel" if self.client == "stack" else "stack"
        return [_peer("server", server, port, *common, *(ours if server == "stack" else ()),
                      family=self.family),
                _peer("client", self.client, port, *common,
                      *(ours if self.client == "stack" else ()), family=self.family)]

    def job(self, number):
        job = super().job(number)
        for peer in job["peers"]:
            if "stack" in peer["argv"][0]:
                peer["argv"].remove("--expect")
        return job

    def verdict(self, peers, cell):
        _delivered(cell, peers, "server" if self.client == "stack" else "client", 300)


class KernelMaximum(Defect):
    """Linux's client stalls over CCID 2 when it sends what it names as its maximum."""

    name = "maximum-packet-size-stall"
    finale = [[0, "close", "server"]]

    def peers(self, port):
        return [_peer("server", "stack", port, "--ccids", 2, "--send", 200, "--expect", "--wait", 16),
                _peer("client", "kernel", port, "--ccids", 2, "--send", 200, "--size", "mps",
                      "--expect", "--wait", 16)]

    def job(self, number):
        job = super().job(number)
        # A client that stalls is never ready, nor silent: its queue moves with each timeout.
        job["ready_of"] = ["server"]
        return job

    def verdict(self, peers, cell):
        # The kernel's own datagrams are stuck; ours must all get through and the end be orderly.
        _delivered(cell, peers, "client", 200)
        ended = event(peers["server"], "end")
        if ended["outcome"] not in ("closed", "eof") or ended["reset"] != 1:
            cell.fault(f"our server: {ended['outcome']}, Reset {ended['reset']}")


class NativeRefused(Defect):
    """A kernel with DCCP answers raw packets too: our programs say so, and what to do."""

    name = "native-mode-refused"
    finale = []

    def peers(self, port):
        return [{"name": "receiver", "at": "A",
                 "argv": ["{bin}/dccp-recv", "--encap", "native", "-1", "-p", str(port)]}]

    def verdict(self, peers, cell):
        text = peers["receiver"]["stderr"]
        if peers["receiver"]["exit"] != 1 or "speaks DCCP itself" not in text or \
                "--tun" not in text:
            cell.fault(f"dccp-recv: exit code {peers['receiver']['exit']}: {text.strip()}")


def every():
    return [NativeRefused(), BlindReset("stack"), BlindReset("kernel"), LostAck(), SyncInRespond(),
            Mandatory(), OptionError(True), OptionError(False), Duplicates(), KernelMaximum()] + [
                OurMaximum(ccid, family, client) for ccid in (2, 3) for family in ("v4", "v6")
                for client in ("stack", "kernel")]


class DefectCell(checks.Cell):
    """The check of a defect's cell: its own verdict, and that the captures decode."""

    def check(self):
        if not self.peers:
            return
        self._check_captures()
        # What was forged is no fault of either stack.
        if any(peer["name"] == "meddler" for peer in self.result["peers"]):
            self.faults = [f for f in self.faults if ": packet " not in f]
        self.job["defect"].verdict(self.peers, self)
