"""Meddles with the packets of one connection, from the router between its ends.

usage: meddler.py SCENARIO PORT [SERVER...]

Prints events like the peers do. Each scenario is a weakness of Linux's stack, or the way to it.
"""

import json
import subprocess
import sys
import time

import wire


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


def option_error(tap, valid):
    """The server answers a packet with an option error by a Reset, and keeps its socket."""
    first = tap.wait("ra", (wire.REQUEST,), 10)
    last = None
    for _ in range(30):
        last = tap.wait("ra", (wire.DATA, wire.ACK, wire.DATA_ACK), 5, first.source) or last
    if not valid:
        event("meddled", reset=_reset_of_a_forged(tap, first.source, last))
    else:
        # As if it had answered the server's newest packet, so that the Reset will be in sequence.
        while tap.wait("ra", (wire.DATA, wire.DATA_ACK), 0.8, first.source):
            pass
        seen = tap.wait("rb", (wire.DATA, wire.DATA_ACK), 5, first.target)
        time.sleep(0.1)
        event("meddled", reset=_reset_of(tap, last, seen.ack, seen.seq, 3))


def _reset_of_a_forged(tap, source, last):
    """Forges a number that the client has not used: the newest one seen, and some; on a busy machine
    it may be used by the time it arrives, and then it is a copy that nobody answers."""
    for _ in range(3):
        newer = last
        while newer:
            last = newer
            newer = tap.wait("ra", (wire.DATA, wire.ACK, wire.DATA_ACK), 0.005, source)
        reset = _reset_of(tap, last, last.seq + 20, last.ack, 0.7)
        if reset:
            return reset
    return None


def _reset_of(tap, last, seq, ack, seconds):
    """What the server answers to an option error in a packet like `last`."""
    tap.send(wire.packet(last.source, last.target, last.ports, wire.ACK, seq, ack,
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
         "option-error": lambda t: option_error(t, False),
         "option-error-of-sent": lambda t: option_error(t, True)}[scenario](tap)
    event("complete")
    event("end", outcome="done")


if __name__ == "__main__":
    main()
