"""
The C++ client as a subject: ``python -m rocketdiff.drivers.python.cpp --library …/librocketmq.so``.

It uses rocketmq-client-python 2.0.0 as an application would. This interface has no explicit queues, batches or asynchronous
sends. Its only selector is the hash of a sharding key, for synchronous sends. It shows no queues, attempts or routes. Its only
setting is the timeout; it always makes up to five attempts of that length (four with a sharding key). As a member of a group it
shows its listener's calls only.
"""

import argparse
import ctypes
import ctypes.util
import importlib
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rocketdiff.core.records.received import Record
from rocketdiff.core.security import ACL
from rocketdiff.core.sends.message import ID_PROPERTY
from rocketdiff.core.sends.plan import PlannedSend, SendKind, SendMode
from rocketdiff.core.subject import SubjectId
from rocketdiff.drivers.python.consuming.cpp import CppLives
from rocketdiff.drivers.python.consuming.own_process import OwnProcesses
from rocketdiff.drivers.python.consuming.runner import consumer_of
from rocketdiff.drivers.python.sending.async_sends import Told
from rocketdiff.drivers.python.sending.client import ClientResult
from rocketdiff.drivers.python.sending.identity import body_of, message_id
from rocketdiff.drivers.python.sending.runner import as_producer
from rocketdiff.drivers.python.session import Speak, own_stdout, run_subject
from rocketdiff.drivers.python.writer import RecordWriter
from rocketdiff.protocol.commands import SubjectSetup
from rocketdiff.subjects.cpp_members import MEMBER_CLAIMS
from rocketdiff.subjects.sharding_keys import ShardingKeys

CAPABILITIES = (str(SendKind.PLAIN), str(SendKind.SELECTOR), str(SendMode.ONEWAY), ACL, "setting:send_msg_timeout_ms")

_CLIENT = "cpp"
_WARM_SENDS = 50
"""They go round from queue 0, so that each queue of our topologies gets several."""

_WARM_TIMEOUT_MS = 5_000
"""A healthy cluster answers much faster; the runner's deadline for ready is longer."""

_WARM_BODY_BYTES = 128

_HASH_SEED = 0xC70F6907
"""Seed of GCC's C++ library for hashes of strings."""

_STATUS = {
    "OK": "SEND_OK",
    "FLUSH_DISK_TIMEOUT": "FLUSH_DISK_TIMEOUT",
    "FLUSH_SLAVE_TIMEOUT": "FLUSH_SLAVE_TIMEOUT",
    "SLAVE_NOT_AVAILABLE": "SLAVE_NOT_AVAILABLE",
}
"""RocketMQ's names of its send statuses."""


class NotOfferedError(Exception):
    """A kind of send that the client's interface lacks."""


class CppClient:
    """A warm producer and the measured one; like Java's, they share connections."""

    def __init__(self, rocketmq: Any, setup: SubjectSetup, _speak: Speak) -> None:
        self._rocketmq = rocketmq
        self._setup = setup
        self._keys = ShardingKeys(string_hash())
        self._warm = self._producer(f"{setup.group}-warm", _WARM_TIMEOUT_MS)
        self._measured = self._producer(setup.group, setup.settings.send_msg_timeout_ms)

    def prepare(self) -> None:
        """Warm up and start; only the first send can look up the route of the measured topic."""
        self._warm.start()
        for number in range(_WARM_SENDS):
            send = PlannedSend(number, 0, 0, SendKind.PLAIN, 0, _WARM_BODY_BYTES)
            self._warm.send_sync(self._message(self._setup.warm_topic, send))
        self._measured.start()

    def message(self, send: PlannedSend) -> Any:
        return self._message(self._setup.topic, send)

    def route(self) -> int:
        return 0  # unknown

    def send(self, send: PlannedSend, message: Any) -> ClientResult:
        """Send; the result has only status and offset."""
        if send.kind is SendKind.PLAIN:
            result = self._measured.send_sync(message)
        elif send.kind is SendKind.SELECTOR:
            result = self._measured.send_orderly_with_sharding_key(message, self._keys.key_for(send.argument))
        else:
            raise NotOfferedError(f"{send.kind} sends")
        return ClientResult(_STATUS[result.status.name], None, None, result.offset)

    def send_async(self, send: PlannedSend, message: Any, on_end: Told) -> None:  # noqa: ARG002 - unsupported
        raise NotOfferedError("asynchronous sends")

    def send_oneway(self, send: PlannedSend, message: Any) -> None:
        if send.kind is not SendKind.PLAIN:
            raise NotOfferedError(f"one-way {send.kind} sends")
        self._measured.send_oneway(message)

    def gave_up(self, send: PlannedSend, now_ns: int) -> None:
        """Do nothing: attempts are not visible."""

    def shutdown(self) -> None:
        self._measured.shutdown()
        self._warm.shutdown()

    def _producer(self, group: str, timeout_ms: int) -> Any:
        producer = self._rocketmq.Producer(group)
        producer.set_name_server_address(";".join(self._setup.name_servers))
        producer.set_timeout(timeout_ms)
        account = (self._setup.security or {}).get("account")
        if account is not None:
            producer.set_session_credentials(account["access_key"], account["secret_key"], "")
        return producer

    def _message(self, topic: str, send: PlannedSend) -> Any:
        identity = message_id(self._setup, topic, send.send)
        message = self._rocketmq.Message(topic)
        message.set_property(ID_PROPERTY, identity)
        message.set_body(body_of(identity, send))
        if send.keys:
            message.set_keys(send.keys)
        if send.tags:
            message.set_tags(send.tags)
        if send.delay_level:
            message.set_delay_time_level(send.delay_level)
        for name, value in send.properties:
            message.set_property(name, value)
        return message


def load(library: Path) -> Any:
    """
    Return the module ``rocketmq.client`` with exactly this native library.

    The package would search the system's libraries by name, so the library is loaded by its full path first and the search
    returns that path.
    """
    ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    ctypes.util.find_library = lambda name: str(library)  # noqa: ARG005 - callers pass it by this name
    return importlib.import_module("rocketmq.client")


def string_hash() -> Callable[[bytes], int]:
    """Return ``std::hash`` of a string as the native library computes it: this function with this seed."""
    hash_bytes = importlib.import_module("rocketmq.ffi").dll._ZSt11_Hash_bytesPKvmm  # noqa: SLF001 - the name in the C++ library
    hash_bytes.restype = ctypes.c_size_t
    hash_bytes.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t]
    return lambda text: int(hash_bytes(text, len(text), _HASH_SEED))


def version_of(rocketmq: Any) -> str:
    """Return the three version numbers that the loaded library reports (``CPP CORE VERSION: 2.1.0_cvs, …``)."""
    library = importlib.import_module("rocketmq.ffi").dll
    library.ShowProducerVersion.argtypes = [ctypes.c_void_p]
    library.ShowProducerVersion.restype = ctypes.c_char_p
    text = library.ShowProducerVersion(rocketmq.Producer("rocketdiff-version")._handle).decode(errors="replace")  # noqa: SLF001 - no public access
    match = re.search(r"\d+\.\d+\.\d+", text)
    return match[0] if match else text


class PromptWriter(RecordWriter):
    """Writes each record at once: nothing is lost with a process that dies."""

    def put(self, record: Record | bytes) -> None:
        super().put(record)
        self.flush()


def main() -> None:
    """Run until the command stop or the end of stdin."""
    parser = argparse.ArgumentParser(description="The C++ client as a subject of rocketdiff.")
    parser.add_argument("--library", required=True, type=Path, help="the native library")
    parser.add_argument("--one-life", action="store_true", help="be a member of a group that joins once")
    asked = parser.parse_args()
    records = own_stdout()  # before anything native may print
    rocketmq = load(asked.library)
    subject = SubjectId(_CLIENT, version_of(rocketmq))
    if asked.one_life:
        prompt = PromptWriter(records)
        run_subject(subject, MEMBER_CLAIMS, consumer_of(partial(CppLives, rocketmq)), prompt, prompt.put)
        return
    writer = RecordWriter(records)
    producer = as_producer(lambda setup, speak: CppClient(rocketmq, setup, speak))
    consumer = consumer_of(partial(OwnProcesses, (sys.executable, *sys.orig_argv[1:], "--one-life")))
    run_subject(subject, (*CAPABILITIES, *MEMBER_CLAIMS), producer | consumer, writer, writer.put)


if __name__ == "__main__":
    main()
