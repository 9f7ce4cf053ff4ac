"""A DCCP-UDP peer that answers every Request with Reset 3, No Connection.

usage: refuse.py FILE    writes its UDP port to FILE
"""

import os
import socket
import sys

server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 0))
with open(sys.argv[1] + ".new", "w", encoding="ascii") as port_file:
    port_file.write(str(server.getsockname()[1]))
os.rename(sys.argv[1] + ".new", sys.argv[1])
while True:
    packet, sender = server.recvfrom(2048)
    kind, extended = packet[8] >> 1 & 15, packet[8] & 1
    if kind != 0 or not extended:
        continue
    # Ports exchanged, 28 bytes of header, type 7 with X, sequence number 0, acknowledging the
    # Request; code 3.
    server.sendto(
        packet[2:4] + packet[0:2] + bytes([7, 0, 0, 0, 7 << 1 | 1, 0]) + bytes(6)
        + bytes(2) + packet[10:16] + bytes([3, 0, 0, 0]), sender)
