"""
Cost of the relay: ``python -m maintenance.bench.relay`` prints round trips without and with it, in µs.

A round trip is one send frame and its response, alternately on a direct and a relayed connection to the same echo server,
so that other load affects both alike. The bound is 500 µs added at the median.
"""

import json
import socket
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from rocketdiff.relay.proxy.listener import LOOPBACK, Upstream
from rocketdiff.relay.proxy.process import Relay
from rocketdiff.relay.remoting.frames import FrameSplitter
from rocketmq_reference.remoting.frames import decode, encode, respond_to
from rocketmq_reference.remoting.sending import SendRequest, send_message

ROUNDS = 2_000
WARM_ROUNDS = 200
BOUND_US = 500.0
_NODE = "broker-a"
_READ_BYTES = 65_536


def main() -> None:
    """Print one JSON line."""
    sys.stdout.write(json.dumps(measured()) + "\n")


def measured(rounds: int = ROUNDS) -> dict[str, float]:
    """Medians and 99th percentiles of both, and the difference of the medians."""
    with socket.create_server((LOOPBACK, 0)) as listener, tempfile.TemporaryDirectory() as folder:
        threading.Thread(target=_accept, args=(listener,), daemon=True).start()
        address = f"{LOOPBACK}:{listener.getsockname()[1]}"
        relay = Relay((Upstream(_NODE, address, is_broker=True),), Path(folder) / "wire.ndjson")
        with relay, _connect(address) as direct, _connect(relay.addresses[_NODE]) as relayed:
            times = _alternate(direct, relayed, rounds)
    return _summary(*times)


def _summary(direct: list[float], relayed: list[float]) -> dict[str, float]:
    figures = {
        f"{name}_{label}_us": round(statistics.quantiles(values, n=100)[percentile - 1], 1)
        for name, values in (("direct", direct), ("relayed", relayed))
        for label, percentile in (("p50", 50), ("p99", 99))
    }
    return figures | {
        "added_p50_us": round(figures["relayed_p50_us"] - figures["direct_p50_us"], 1),
        "bound_us": BOUND_US,
    }


def _alternate(direct: socket.socket, relayed: socket.socket, rounds: int) -> tuple[list[float], list[float]]:
    properties = {"UNIQ_KEY": "7F" * 16, "WAIT": "true", "rocketdiff.id": "run/topic/1"}
    frame = encode(send_message(SendRequest("topic", 1, bytes(128), "group", 1, properties)))
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + WARM_ROUNDS):
        for into, connection in zip(times, (direct, relayed), strict=True):
            began_ns = time.perf_counter_ns()
            connection.sendall(frame)
            connection.recv(_READ_BYTES)
            if number >= WARM_ROUNDS:
                into.append((time.perf_counter_ns() - began_ns) / 1_000)
    return times


def _connect(address: str) -> socket.socket:
    host, _, port = address.partition(":")
    connection = socket.create_connection((host, int(port)))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _accept(listener: socket.socket) -> None:
    for _ in range(2):
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_echo, args=(connection,), daemon=True).start()


def _echo(connection: socket.socket) -> None:
    splitter = FrameSplitter()
    fields = {"msgId": "0" * 32, "queueId": "1", "queueOffset": "7"}
    with connection:
        while data := connection.recv(_READ_BYTES):
            for frame in splitter.feed(data):
                connection.sendall(encode(respond_to(decode(frame[4:]), 0, ext_fields=fields)))


if __name__ == "__main__":
    main()
