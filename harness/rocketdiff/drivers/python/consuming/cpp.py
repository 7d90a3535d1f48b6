"""
The C++ client as a member of a group that joins once; ``own_process`` starts one for each life.

It uses rocketmq-client-python 2.0.0 as an application would, and reads one thing past that interface: the address of the broker that
stored a message, since no message names its broker. The interface calls the listener for one message at a time.
"""

import ctypes
import importlib
import time
from collections.abc import Sequence
from typing import Any

from rocketdiff.core.consuming.plan import Allocation, ListenerKind, ListenerOutcome, ListenerRule
from rocketdiff.core.consuming.watched import RETRY_PREFIX
from rocketdiff.core.records.consuming import DeliveredMessage
from rocketdiff.core.sends.message import ID_PROPERTY, padded
from rocketdiff.drivers.python.consuming.reports import Reports
from rocketdiff.drivers.python.consuming.script import end_of
from rocketdiff.drivers.python.session import Speak
from rocketdiff.protocol.consuming import MemberSetup
from rocketdiff.subjects.cpp_members import SETTABLE, unsettable

_RETRY_TOPIC = b"RETRY_TOPIC"
"""Property that a broker adds to a message that was handed back: its topic before. The client shows that topic, not the retry topic."""


class ScriptedError(Exception):
    """What a scripted listener throws."""


class CppLives:
    """The only life of a member."""

    def __init__(self, rocketmq: Any, speak: Speak) -> None:
        self._rocketmq, self._reports = rocketmq, Reports(speak)
        self._setup: MemberSetup | None = None
        self._rules: Sequence[ListenerRule] = ()

    def prepare(self, setup: MemberSetup, rules: Sequence[ListenerRule]) -> None:
        """Raise ValueError if the interface cannot do what is asked. It warms up in another process."""
        require_settable(setup)
        self._setup, self._rules = setup, rules

    def begin(self, incarnation: int) -> "CppMember":
        assert self._setup is not None, "orders come after prepare"
        return CppMember(self._rocketmq, self._setup, self._rules, incarnation, self._reports)

    def await_calls(self) -> int:
        return self._reports.await_calls()


class CppMember:
    """Its client id is not shown; relays see it."""

    client_id = None

    def __init__(
        self, rocketmq: Any, setup: MemberSetup, rules: Sequence[ListenerRule], incarnation: int, reports: Reports
    ) -> None:
        self._status = rocketmq.ConsumeStatus
        self._setup, self._rules = setup, rules
        self._incarnation, self._reports = incarnation, reports
        self._store_host = store_host_of()
        model = rocketmq.MessageModel[setup.model.name]
        is_orderly = setup.listener is ListenerKind.ORDERLY
        consumer = self._consumer = rocketmq.PushConsumer(setup.group, orderly=is_orderly, message_model=model)
        consumer.set_name_server_address(";".join(setup.name_servers))
        consumer.set_instance_name(setup.instance)
        settings = setup.settings
        threads = settings.get("consume_thread_min")
        if threads is not None:
            consumer.set_thread_count(threads)
        if "consume_message_batch_max_size" in settings:
            consumer.set_message_batch_max_size(settings["consume_message_batch_max_size"])
        account = (setup.security or {}).get("account")
        if account is not None:
            consumer.set_session_credentials(account["access_key"], account["secret_key"], "")
        consumer.subscribe(setup.topic, self._consume, setup.expression or "*")

    def start(self) -> None:
        self._consumer.start()

    def shutdown(self) -> None:
        """Shut it down, which kills the process."""
        self._consumer.shutdown()

    def _consume(self, message: Any) -> Any:
        at_ns = time.monotonic_ns()
        is_returned = bool(message.get_property(_RETRY_TOPIC))
        topic = RETRY_PREFIX + self._setup.group if is_returned else message.topic
        place = topic, self._broker(message), message.queue_id
        read = self._read(message, topic)
        call = self._reports.received(self._incarnation, at_ns, place, [read])
        end = end_of([read], self._rules, self._setup.work_ms)
        if end.work_ms:
            time.sleep(end.work_ms / 1_000)
        self._reports.consumed(call, end)
        if end.outcome is ListenerOutcome.THROW:
            raise ScriptedError("the script asks for it")
        is_later = end.outcome is ListenerOutcome.LATER
        return self._status.RECONSUME_LATER if is_later else self._status.CONSUME_SUCCESS

    def _broker(self, message: Any) -> str:
        address = self._store_host(message)
        name = self._setup.brokers.get(address)
        if name is None:
            known = ", ".join(self._setup.brokers) or "none"
            raise ValueError(f"expected a message of a broker in brokers of setup ({known}), saw one of {address}")
        return name

    def _read(self, message: Any, queue_topic: str) -> DeliveredMessage:
        identity = _text(message.get_property(ID_PROPERTY)) or ""
        prefix = f"{self._setup.run}/{self._setup.topic}/"
        number = identity.removeprefix(prefix)
        send = int(number) if number != identity and number.isascii() and number.isdigit() else None
        sizes = self._setup.body_bytes
        return DeliveredMessage(
            offset=message.queue_offset,
            times=message.reconsume_times,
            store_ms=message.store_timestamp,
            body_ok=send is not None and message.body == padded(identity, sizes[send % len(sizes)]),
            send=send,
            topic=None if message.topic == queue_topic else message.topic,
            key=_text(message.get_property("UNIQ_KEY")) or None,
            origin=_text(message.get_property("ORIGIN_MESSAGE_ID")) or None,
            store_host=self._store_host(message),
        )


def require_settable(setup: MemberSetup) -> None:
    """Raise ValueError if the setup names something that the interface cannot set and that changes what a member does."""
    lacking = [*unsettable({**setup.settings, **setup.properties})]
    lacking += [f"the strategy {setup.strategy}"] * (setup.strategy is not Allocation.AVG)
    if lacking:
        can = ", ".join(sorted(SETTABLE))
        raise ValueError(
            f"expected settings that rocketmq-client-python has ({can}; queues are divided averagely), saw"
            f" {', '.join(lacking)}; try a scenario without"
        )


class _SocketAddress(ctypes.Structure):
    """``sockaddr_in``: the port is in network order."""

    _fields_ = (
        ("family", ctypes.c_uint16),
        ("port", ctypes.c_uint8 * 2),
        ("address", ctypes.c_uint8 * 4),
        ("rest", ctypes.c_uint8 * 8),
    )


def store_host_of() -> Any:
    """Return a function that returns the address of the broker that stored a message, as ``host:port``."""
    get = importlib.import_module("rocketmq.ffi").dll._ZNK8rocketmq12MQMessageExt12getStoreHostEv  # noqa: SLF001 - the name in the C++ library
    get.restype, get.argtypes = _SocketAddress, [ctypes.c_void_p]

    def address(message: Any) -> str:
        found = get(message._handle)  # noqa: SLF001 - the Python interface does not show it
        return f"{'.'.join(map(str, found.address))}:{int.from_bytes(bytes(found.port), 'big')}"

    return address


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode(errors="replace")
