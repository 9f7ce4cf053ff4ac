"""Meddles with the packets of one connection, from the router between its ends.

usage: meddler.py SCENARIO PORT [SERVER...]

Prints events like the peers do. Each scenario is a weakness of Linux's stack, or the way to it.
"""

import json
import subprocess
import sys
import time

import wire

CARRIERS = (wire.DATA, wire.ACK, wire.DATA_ACK)
AHEAD = 20  # less than a quarter of the Sequence Window, or what comes next is out of it



def event(name, **fields):
    print(json.dumps({"event": name, "at": time.monotonic(), **fields}), flush=True)


def to_client(seen, kind, seq, ack, **more):
    """A packet as from the server of the client's packet that was seen."""
    return wire.packet(seen.target, seen.source, seen.ports[::-1], kind, seq, ack, **more)


def blind_reset(tap):
    """A Reset whose acknowledgement number is of no packet that the client sent."""
    request = tap.wait("ra", (wire.REQUEST,), 10)
    tap.send(to_client(request, wire.RESET, 77, request.seq + 1000, special=bytes([3, 0, 0, 0])))
    event("meddled")


def blackhole(verb, target):
    subprocess.run(["ip", "route", verb, "blackhole", target], check=True)


def lose_ack(tap):
    """The first packet after the Response never reaches the server. Returns both packets."""
    response = tap.wait("rb", (wire.RESPONSE,), 10)
    blackhole("add", response.source)  # in time: the path to the client is long
    ack = tap.wait("ra", (wire.ACK, wire.DATA_ACK), 5)
    time.sleep(0.1)
    blackhole("del", response.source)
    event("meddled", lost=ack is not None)
    return response, ack


def sync_in_respond(tap):
    """The server is still in RESPOND when its client gets a reason to send a Sync."""
    response, ack = lose_ack(tap)
    tap.send(to_client(ack, wire.DATA_ACK, response.seq + 10**9, ack.seq, data=b"out of sequence"))
    answer = tap.wait("ra", (wire.SYNC,), 2)
    event("sync", sent=answer is not None)


class Newest:
    """The highest sequence number and acknowledgement of an end, of all that the tap has read."""

    def __init__(self, tap, source):
        self.source = source
        self.packets = self.seq = self.ack = 0
        tap.watch = self.note

    def note(self, seen):
        if seen.source == self.source and seen.kind in CARRIERS and not seen.outgoing:
            self.packets += 1
            self.seq = max(self.seq, seen.seq)
            self.ack = max(self.ack, seen.ack or 0)  # Data has none


def option_error(tap):
    """The server answers a packet with an option error by a Reset, and keeps its socket. The packet
    has a number that the client will not use for a while, and acknowledges what the client did."""
    first = tap.wait("ra", (wire.REQUEST,), 10)
    client = Newest(tap, first.source)
    while client.packets < 30 and tap.next(5):
        pass
    reset = None
    for _ in range(3):
        while tap.next(0):
            pass
        reset = _reset_of(tap, first, client.seq + AHEAD, client.ack, 2)
        if reset:
            break
    event("meddled", reset=reset)


def option_error_of_sent(tap):
    """The same, of a packet that comes as if the client had answered the server's newest packet, so
    that the Reset will be in sequence."""
    first = tap.wait("ra", (wire.REQUEST,), 10)
    for _ in range(30):
        tap.wait("ra", CARRIERS, 5, first.source)
    while tap.wait("ra", (wire.DATA, wire.DATA_ACK), 0.8, first.source):
        pass
    seen = tap.wait("rb", (wire.DATA, wire.DATA_ACK), 5, first.target)
    time.sleep(0.1)
    event("meddled", reset=_reset_of(tap, first, seen.ack, seen.seq, 3))


def _reset_of(tap, first, seq, ack, seconds):
    """What the server answers to an option error in a packet of the connection of `first`."""
    tap.send(wire.packet(first.source, first.target, first.ports, wire.ACK, seq, ack,
                         options=bytes([0, 0, 0, 1])))  # Mandatory, and nothing after it
    reset = tap.wait("rb", (wire.RESET,), seconds)
    return reset and list(reset.reset)


def mandatory(tap, targets):
    """Mandatory before an option that nobody knows, on a Request to each of the servers."""
    for target in targets:
        tap.send(wire.packet("10.33.2.1", target, (41000, tap.port), wire.REQUEST, 5000,
                             special=(1).to_bytes(4, "big"), options=bytes([1, 99, 3, 7])))
        answer = tap.wait("rb", wire.EVERY, 3, target)
        event("answer", of=target, kind=answer and answer.kind,
              reset=list(answer.reset) if answer and answer.reset else None)


def main():
    scenario, port = sys.argv[1], int(sys.argv[2])
    tap = wire.Tap(port)
    event("listening")
    if scenario == "mandatory":
        mandatory(tap, sys.argv[3:])
    else:
        {"blind-reset": blind_reset, "lose-ack": lose_ack, "sync-in-respond": sync_in_respond,
         "option-error": option_error, "option-error-of-sent": option_error_of_sent}[scenario](tap)
    event("complete")
    event("end", outcome="done")


if __name__ == "__main__":
    main()
