"""Two decoders on one capture: dccp-dump, and tshark as a second opinion, field by field."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

# What tshark 4.0 does not show, or shows wrongly, and is therefore not compared. Everything else
# has to agree.
KNOWN_FAULTS = (
    "values of Change and Confirm options: printed as text 'Reserved( 2, 3)', never as a field",
    "values of features that are numbers: the same",
    "option types 128 to 255 other than 192, 193 and 194: data only, and no CCID is followed",
    "Ack Vector, Data Dropped, Init Cookie: the bytes, not what they mean",
)
FIELDS = (
    "frame.number", "dccp.srcport", "dccp.dstport", "dccp.data_offset", "dccp.ccval", "dccp.cscov",
    "dccp.checksum.status", "dccp.type", "dccp.x", "dccp.seq_raw", "dccp.ack_raw",
    "dccp.service_code", "dccp.reset_code", "dccp.data1", "dccp.data2", "dccp.data3",
    "dccp.option_type", "dccp.feature_number", "dccp.ndp_count", "dccp.timestamp",
    "dccp.timestamp_echo", "dccp.elapsed_time", "dccp.checksum_data", "dccp.ack_vector.nonce_0",
    "dccp.ack_vector.nonce_1", "dccp.ccid3_loss_event_rate", "dccp.ccid3_receive_rate",
    "_ws.malformed", "ip.dsfield.ecn", "ipv6.tclass.ecn", "ip.ttl", "ipv6.hlim",
)
TYPES = ("Request", "Response", "Data", "Ack", "DataAck", "CloseReq", "Close", "Reset", "Sync",
         "SyncAck", "Listen")
STATES = {"received": 0, "marked": 1, "reserved": 2, "not received": 3}
ECN = {"Not-ECT": 0, "ECT(1)": 1, "ECT(0)": 2, "CE": 3}


def dump(program, capture):
    """The document of dccp-dump --json: packets, with the violations that --check would print."""
    done = subprocess.run([program, "--json", str(capture)], capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"dccp-dump {capture}: {done.stderr.decode(errors='replace').strip()}")
    return json.loads(done.stdout)


def has_tshark():
    return shutil.which("tshark") is not None


def tshark(capture):
    """One dictionary a DCCP packet."""
    command = ["tshark", "-n", "-r", str(capture), "-Y", "dccp", "-o", "dccp.check_checksum:TRUE",
               "-T", "fields", "-E", "separator=|", "-E", "occurrence=a", "-E", "aggregator=,"]
    for field in FIELDS:
        command += ["-e", field]
    with tempfile.TemporaryDirectory() as home:  # it wants one that it can read
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              env={**os.environ, "HOME": home})
    if done.returncode != 0:
        raise RuntimeError(f"tshark {capture}: {done.stderr.strip()}")
    return [dict(zip(FIELDS, line.split("|"))) for line in done.stdout.splitlines()]


def join(captures, target):
    """Captures of one link type as one file, so that one run of tshark reads them all."""
    with open(target, "wb") as out:
        for number, capture in enumerate(captures):
            data = pathlib.Path(capture).read_bytes()
            out.write(data if number == 0 else data[24:])


def _service(text):
    if text.startswith("SC:"):
        return int.from_bytes(text[3:].encode().ljust(4), "big")
    return int(text.removeprefix("SC=x"), 16)


def _numbers(options, kind, key, scale=1):
    return [round(o[key] * scale) for o in options if o["type"] in kind and key in o]


def _merged(runs):
    """Runs of (state, packets) as text, neighbours of one state as one."""
    merged = []
    for state, packets in runs:
        if merged and merged[-1][0] == state:
            merged[-1][1] += packets
        else:
            merged.append([state, packets])
    return "+".join(f"{packets}x{state}" for state, packets in merged)


def _vector(options, kind):
    return [_merged((STATES[r["state"]], r["packets"]) for r in o["runs"])
            for o in options if o["type"] == kind]


def _cells(text):
    return _merged((cell >> 6, (cell & 63) + 1) for cell in bytes.fromhex(text.replace(":", "")))


def _joined(values):
    return ",".join(str(v) for v in values)


def expected(packet):
    """What tshark has to say of a packet, from what dccp-dump says of it."""
    options = packet["options"]
    reset = packet.get("reset")
    v6 = ":" in packet["src"]
    # A 24-bit number is extended by dccp-dump only.
    mask = (1 << 48) - 1 if packet["x"] else (1 << 24) - 1
    elapsed = []
    for o in options:
        if o["type"] == 43:
            elapsed.append(round(o["ms"] * 100))
        if o["type"] == 42 and o["elapsed_ms"] != 0:
            elapsed.append(round(o["elapsed_ms"] * 100))
    ecn = ECN[packet["ecn"]]
    return {
        "dccp.srcport": str(packet["src_port"]), "dccp.dstport": str(packet["dst_port"]),
        "dccp.data_offset": str(packet["data_offset"]), "dccp.ccval": str(packet["ccval"]),
        "dccp.cscov": str(packet["cscov"]),
        "dccp.checksum.status": {"good": "1", "bad": "0"}.get(packet["checksum"], "?"),
        "dccp.type": str(TYPES.index(packet["type"])), "dccp.x": "1" if packet["x"] else "0",
        "dccp.seq_raw": str(packet["seq"] & mask),
        "dccp.ack_raw": "" if packet["ack"] is None else str(packet["ack"] & mask),
        "dccp.service_code": str(_service(packet["service_code"])) if "service_code" in packet
                             else "",
        "dccp.reset_code": str(reset["code"]) if reset else "",
        "dccp.data1": str(reset["data"][0]) if reset else "",
        "dccp.data2": str(reset["data"][1]) if reset else "",
        "dccp.data3": str(reset["data"][2]) if reset else "",
        "dccp.option_type": _joined(o["type"] for o in options),
        "dccp.feature_number": _joined(o["feature"] for o in options if "feature" in o),
        "dccp.ndp_count": _joined(_numbers(options, (37,), "count")),
        "dccp.timestamp": _joined(_numbers(options, (41,), "ticks")),
        "dccp.timestamp_echo": _joined(_numbers(options, (42,), "ticks")),
        "dccp.elapsed_time": _joined(elapsed),
        "dccp.ack_vector.nonce_0": _joined(_vector(options, 38)),
        "dccp.ack_vector.nonce_1": _joined(_vector(options, 39)),
        "dccp.ccid3_loss_event_rate": _joined(_numbers(options, (192,), "inverse")),
        "dccp.ccid3_receive_rate": _joined(_numbers(options, (194,), "bytes_per_second")),
        "_ws.malformed": "",
        "ip.dsfield.ecn": "" if v6 else str(ecn), "ipv6.tclass.ecn": str(ecn) if v6 else "",
        "ip.ttl": "" if v6 else str(packet["hop_limit"]),
        "ipv6.hlim": str(packet["hop_limit"]) if v6 else "",
    }


def _theirs(field, text):
    """tshark's value in the form of ours: without Padding, which dccp-dump does not list."""
    if field == "dccp.option_type":
        return ",".join(t for t in text.split(",") if t not in ("0", ""))
    if field.startswith("dccp.ack_vector"):
        return ",".join(_cells(vector) for vector in text.split(",")) if text else ""
    if field == "dccp.x":
        return {"True": "1", "False": "0"}.get(text, text)
    return text


def differences(ours, theirs, limit=5):
    """Packets in which the two decoders disagree, in words."""
    if len(ours) != len(theirs):
        return [f"dccp-dump finds {len(ours)} packets, tshark {len(theirs)}"]
    found = []
    for packet, other in zip(ours, theirs):
        if "error" in packet:
            continue
        for field, want in expected(packet).items():
            got = _theirs(field, other[field])
            if got != want and len(found) < limit:
                found.append(f"packet {packet['number']}: {field} is {want!r} for dccp-dump, "
                             f"{got!r} for tshark")
    return found
