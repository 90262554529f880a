"""A command of a lit test, as a fork of the server: `python -I -S tests/lit_client.py SOCKET PROGRAM ARGUMENTS`."""

import json
import os
import socket
import sys

STREAMS = (0, 1, 2)
# Each request is one message.
KIND = socket.SOCK_SEQPACKET


def ask(address: str, words: list[str]) -> int:
    """Runs a program in a fork of the server and returns its exit status, negative for a signal."""
    request = json.dumps([os.getcwd(), dict(os.environ), words])
    with socket.socket(socket.AF_UNIX, KIND) as connection:
        connection.connect(address)
        socket.send_fds(connection, [request.encode()], STREAMS)
        return int(connection.recv(16))


if __name__ == "__main__":
    status = ask(sys.argv[1], sys.argv[2:])
    if status < 0:
        os.kill(os.getpid(), -status)
    sys.exit(status)
