"""DCCP packets over IPv4, made, sent and read by hand, for those who meddle with a connection."""

import socket
import struct
import time

DCCP = 33
(REQUEST, RESPONSE, DATA, ACK, DATA_ACK, CLOSE_REQ, CLOSE, RESET, SYNC, SYNC_ACK) = range(10)
ETH_P_IP = 0x0800
ETH_P_ALL = 3
EVERY = range(16)
PACKET_OUTGOING = 4
SO_RCVBUFFORCE = 33


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def packet(source, target, ports, kind, seq, ack=None, *, special=b"", options=b"", data=b""):
    """An IP packet; `special` follows the acknowledgement number (service code, reset code)."""
    options += b"\0" * (-len(options) % 4)
    rest = (b"" if ack is None else b"\0\0" + (ack % 2**48).to_bytes(6, "big")) + special + options
    head = struct.pack("!HHBBHBB", *ports, (16 + len(rest)) // 4, 0, 0, kind << 1 | 1, 0)
    head += (seq % 2**48).to_bytes(6, "big") + rest
    pseudo = socket.inet_aton(source) + socket.inet_aton(target)
    pseudo += struct.pack("!BBH", 0, DCCP, len(head + data))
    head = head[:6] + struct.pack("!H", checksum(pseudo + head + data)) + head[8:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(head + data), 0, 0x4000, 64, DCCP, 0)
    return ip + socket.inet_aton(source) + socket.inet_aton(target) + head + data


class Seen:
    """A packet that was read."""

    def __init__(self, ip, device, outgoing):
        self.device, self.outgoing = device, outgoing
        self.source, self.target = (socket.inet_ntoa(ip[i:i + 4]) for i in (12, 16))
        d = ip[(ip[0] & 15) * 4:]
        self.ports = struct.unpack("!HH", d[:4])
        self.kind = d[8] >> 1 & 15
        self.seq = int.from_bytes(d[10:16], "big")
        has_ack = self.kind not in (REQUEST, DATA)
        self.ack = int.from_bytes(d[18:24], "big") if has_ack else None
        self.reset = tuple(d[24:28]) if self.kind == RESET else None
        self.payload = len(d) - d[4] * 4


class Tap:
    """Reads what crosses the devices of the router, and sends packets by its routing table."""

    def __init__(self, port):
        self.port = port
        self.watch = lambda seen: None  # is called with every packet of the port that is read
        self.tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 23)
        self.raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)

    def next(self, seconds):
        """The next packet of the port, or None. What waits already counts however late it is: a busy
        guest is slower than its network."""
        until = time.monotonic() + seconds
        while True:
            self.tap.settimeout(max(0.0, until - time.monotonic()))
            try:
                frame, where = self.tap.recvfrom(65536)
            except (TimeoutError, BlockingIOError):
                return None
            ip = frame[14:]
            if where[1] != ETH_P_IP or len(ip) < 40 or ip[9] != DCCP:
                continue
            seen = Seen(ip, where[0], where[2] == PACKET_OUTGOING)
            if self.port in seen.ports:
                self.watch(seen)
                return seen

    def wait(self, device, kinds, seconds, source=None):
        """The next packet of these types that came in by a device, or None."""
        until = time.monotonic() + seconds
        while (seen := self.next(max(0.0, until - time.monotonic()))) is not None:
            if seen.device == device and not seen.outgoing and seen.kind in kinds and \
                    source in (None, seen.source):
                return seen
        return None

    def send(self, ip):
        self.raw.sendto(ip, (socket.inet_ntoa(ip[16:20]), 0))
