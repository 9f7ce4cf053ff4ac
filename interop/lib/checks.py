"""What a cell has to show, from the events of both ends and the captures at both ends."""

from lib import cells, decoders

# Features that each CCID needs, by number: [of the data we send, of the data we receive].
FEATURES = {
    2: {"1": [2, 2], "2": [0, 0], "6": [1, 1]},
    3: {"1": [3, 3], "2": [0, 0], "6": [0, 0], "192": [1, 1]},
}


def event(peer, name):
    return next((e for e in peer["events"] if e.get("event") == name), None)


def _option(packet, kind, field):
    return next((o.get(field) for o in packet["options"] if o["type"] == kind), None)


class Cell:
    """One cell's result. check() fills `faults`; the cell passes when there is none."""

    def __init__(self, job, result, folder, programs):
        self.job = job
        self.cell = job.get("cell")
        self.result = result
        self.folder = folder
        self.programs = programs
        self.faults = list(result["notes"])
        self.packets = 0
        self.excuse = ""  # why the cell could not show what it was for
        self.peers = {p["name"]: p for p in result["peers"]}
        self.dumps = {}

    def fault(self, text):
        self.faults.append(text)

    def check(self):
        if len(self.peers) != 2:
            self.fault("the peers did not run")
            return
        self._check_captures()
        if not self.dumps:
            return
        if self.cell["close"] == "-":
            self._check_refused()
            return
        if self._single_ack_lost():
            self.excuse = "the only Ack of Linux's client was lost, and it had nothing else to send"
            return
        self._check_features()
        self._check_data()
        self.excuse = self._linux_stopped()
        if not self.excuse:
            self._check_end()

    # ---- captures ----

    def _check_captures(self):
        captures = [self.folder / "A.pcap", self.folder / "B.pcap"]
        for host, capture in zip("AB", captures):
            document = decoders.dump(self.programs / "dccp-dump", capture)
            self.dumps[host] = document["packets"]
            for packet in document["packets"]:
                kind = packet.get("type", "undecodable")
                for text in packet.get("violations", []):
                    self.fault(f"{host}: packet {packet['number']} ({kind}): {text}")
            self.packets += len(document["packets"])
        if decoders.has_tshark():
            both = self.folder / "both.pcap"
            decoders.join(captures, both)
            theirs = decoders.tshark(both)
            ours = self.dumps["A"] + self.dumps["B"]
            self.faults += decoders.differences(ours, theirs)
            both.unlink()

    def _sent_by(self, end, kind):
        """Packets of a type that an end sent, seen beside it."""
        host = "A" if end == "client" else "B"
        port = self.job["port"]
        return [p for p in self.dumps[host] if "error" not in p and p["type"] == kind and
                (p["dst_port"] == port) == (end == "client")]

    def _arrived(self, end):
        """Numbers of the datagrams of full size that came to an end. Whoever closes a socket of the
        kernel's has read the last of them: what crosses its Close is nobody's."""
        numbers = set()
        for p in self.dumps["A" if end == "client" else "B"]:
            if "error" in p:
                continue
            from_here = (p["dst_port"] == self.job["port"]) == (end == "client")
            if from_here and self._kind(end) == "kernel" and \
                    p["type"] in ("Close", "CloseReq", "Reset"):
                break
            if not from_here and p["type"] in ("Data", "DataAck") and \
                    p["payload_bytes"] == self.job["size"]:
                numbers.add(p["seq"])
        return numbers

    # ---- expectations ----

    def _kind(self, end):
        return cells.kinds(self.cell)[0 if end == "client" else 1]

    def _single_ack_lost(self):
        """Linux's client sends the Ack of the handshake once. Where it is lost and only the server
        has something to send the connection never opens, and no server can help it."""
        if self._kind("client") != "kernel" or cells.sends(self.cell, "client"):
            return False
        here, there = ([p["type"] for p in self.dumps[host] if "error" not in p and
                        p["dst_port"] == self.job["port"]] for host in "AB")
        return "Ack" in here and set(there) <= {"Request", "Close", "Reset"}

    def _linux_stopped(self):
        """Why, on a path with loss, neither the data nor the end can be waited for; or nothing."""
        if self.cell["path"] not in cells.LOSSY or self.cell["close"] == "vanish":
            return ""
        kernel = "client" if self._kind("client") == "kernel" else "server"
        other = "server" if kernel == "client" else "client"
        here, there = ("A", "B") if kernel == "client" else ("B", "A")
        sent, arrived = self._packets(here, kernel), self._packets(there, kernel)
        ended = event(self.peers[kernel], "end")
        # It repeats a Close once or twice.
        closing = {"Close", "CloseReq"}
        if closing & {p["type"] for p in sent} and \
                not (closing | {"Reset"}) & {p["type"] for p in arrived}:
            return "each Close of Linux's was lost"
        if any(_option(p, 192, "loss_event_rate") == 1 and _option(p, 194, "bytes_per_second")
               for p in arrived):
            return "Linux's CCID 3 reported that all is lost, with a rate at which it was received"
        # Its CCID 3 takes no notice of feedback on packets without data, which is much of it when
        # both ends send; then its nofeedback timer takes the rate to a packet in 64 seconds.
        data = [p["time"] for p in arrived if p["type"] in ("Data", "DataAck")]
        reports = [p["time"] for p in self._packets(there, other) if _option(p, 194, "name")]
        wanted = self.job["datagrams"] if cells.sends(self.cell, kernel) else 0
        if ended and ended["sent"] < wanted and data and reports and \
                self.result["seconds"] > 10 and reports[-1] > data[-1]:
            return "Linux's CCID 3 stopped sending, with all reported to it that had arrived"
        return ""

    def _packets(self, host, end):
        """What an end sent, as it was seen beside a host."""
        port = self.job["port"]
        return [p for p in self.dumps[host] if "error" not in p and
                (p["dst_port"] == port) == (end == "client")]

    def _check_refused(self):
        """No common CCID: both ends say so, and a Reset was sent."""
        for end, peer in self.peers.items():
            if event(peer, "connected"):
                self.fault(f"{end} connected without a common CCID")
        if not self._sent_by("client", "Reset") and not self._sent_by("server", "Reset"):
            self.fault("no Reset")
        ended = event(self.peers["client"], "end")
        if not ended or ended["outcome"] in ("connect timeout", "nobody", "timeout"):
            self.fault(f"the client was not told: {ended and ended['outcome']}")

    def _check_features(self):
        want = cells.CCIDS[self.cell["ccid"]][2]
        for end, peer in self.peers.items():
            open_ = event(peer, "connected")
            if not open_:
                self.fault(f"{end} did not connect: {peer['events'][-1:]} {peer['stderr'].strip()}")
                continue
            if (open_["ccid_tx"], open_["ccid_rx"]) != (want, want):
                self.fault(f"{end}: CCIDs {open_['ccid_tx']} and {open_['ccid_rx']}, not {want}")
            for number, values in FEATURES[want].items():
                if "features" in open_ and open_["features"][number] != values:
                    self.fault(f"{end}: feature {number} is {open_['features'][number]}, "
                               f"not {values}")

    def _check_data(self):
        vanish = self.cell["close"] == "vanish"
        for end, other in (("client", "server"), ("server", "client")):
            ended = event(self.peers[end], "end")
            if not ended or not event(self.peers[end], "connected"):
                continue
            if ended["corrupt"]:
                self.fault(f"{end}: {ended['corrupt']} corrupt datagrams")
            sends = cells.sends(self.cell, other)
            arrived = len(self._arrived(end))
            if ended["unique"] != arrived:
                self.fault(f"{end}: {ended['unique']} datagrams delivered, {arrived} arrived, "
                           f"{ended.get('counters', {}).get('sequence_invalid', 'some')} packets "
                           f"invalid, Syncs {len(self._sent_by(end, 'Sync'))}")
            if ended["bytes"] != ended["received"] * self.job["size"]:
                self.fault(f"{end}: {ended['bytes']} bytes in {ended['received']} datagrams")
            if sends and ended["unique"] == 0:
                self.fault(f"{end}: nothing arrived")
            whole = sends and not vanish and self.cell["path"] not in cells.LOSSY
            if whole and ended["unique"] != self.job["datagrams"]:
                self.fault(f"{end}: {ended['unique']} of {self.job['datagrams']} on a path "
                           "without loss")
            twice = ended["duplicates"]
            if twice and (self._kind(end) == "stack" or self.cell["path"] != "duplicate"):
                self.fault(f"{end}: {twice} datagrams delivered twice")

    def _check_end(self):
        close = self.cell["close"]
        ends = {end: event(peer, "end") for end, peer in self.peers.items()}
        for end, ended in ends.items():
            if not ended:
                self.fault(f"{end} did not end")
                return
        codes = {end: [p["reset"]["code"] for p in self._sent_by(end, "Reset")] for end in ends}
        if close == "vanish":
            for end, ended in ends.items():
                wanted = ("timeout",) if self._kind(end) == "stack" else ("timeout", "closed")
                if ended["outcome"] not in wanted:
                    self.fault(f"{end}: peer vanished, outcome {ended['outcome']}")
            return
        if close.startswith("abort-"):
            who = close.removeprefix("abort-")
            if codes[who][:1] != [2]:
                self.fault(f"aborted by {who}, Resets {codes}")
            return
        # Reset 3 answers a packet that came once the connection was forgotten.
        both = codes["client"] + codes["server"]
        if 1 not in both or not set(both) <= {1, 3}:
            self.fault(f"closed by {close}, Resets {codes}")
        closers = ("client", "server") if close == "both" else (close,)
        for end in closers:
            if ends[end]["outcome"] not in ("closed", "eof"):
                self.fault(f"{end} closed, outcome {ends[end]['outcome']}")
        for end in set(ends) - set(closers):
            if ends[end]["outcome"] != "eof":
                self.fault(f"{end}: outcome {ends[end]['outcome']}, not eof")
