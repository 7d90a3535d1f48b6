"""
Toy subjects: ``python -m rocketdiff.drivers.python.toy --defect drops``.

Each is the reference with one defect, to show that a run finds it. Most defects occur at every tenth send of the plan, fatal
ones at the first of these; otherwise a toy behaves like the reference.
"""

import argparse
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from rocketdiff.core.records.consuming import ALLOCATIONS, OFFSETS, OWNED, Allocated, Joined, OffsetSeen, Owned
from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import Attempt, RouteSeen, Send
from rocketdiff.core.sends.plan import PlannedSend
from rocketdiff.core.subject import SubjectId
from rocketdiff.drivers.python.consuming.reference import as_consumer, member_capabilities
from rocketdiff.drivers.python.consuming.toys import MEMBER_TOYS
from rocketdiff.drivers.python.sending.async_sends import Told
from rocketdiff.drivers.python.sending.client import Client, ClientResult
from rocketdiff.drivers.python.sending.reference import ReferenceClient, StartsAtZero, capabilities_of, without_failover
from rocketdiff.drivers.python.sending.runner import as_producer
from rocketdiff.drivers.python.session import Speak, own_stdout, run_subject
from rocketdiff.drivers.python.writer import RecordWriter
from rocketdiff.protocol.commands import SubjectSetup
from rocketdiff.subjects.kinds.toy import HOOKLESS, NEWEST_READ
from rocketdiff.subjects.reported_defects import REPORTED_DEFECTS, ReportedDefect, reported, strikes
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.tape import RandomTape, Tape

_CLIENT = "toy"
_RELEASE = NEWEST_READ


Reported = tuple[Record | bytes, ...]

Speech = Callable[[Record], Reported]
"""What a toy writes for a record."""


class Honest(ReferenceClient):
    """The reference without a defect."""

    def __init__(
        self,
        setup: SubjectSetup,
        speak: Speak,
        dialect: Dialect | None = None,
        tapes: Callable[[], Tape] = RandomTape,
    ) -> None:
        super().__init__(_RELEASE, setup, speak, dialect, tapes)


class DiesMidSend(Honest):
    """Kills its own process during a send."""

    def send(self, send: PlannedSend, message: Any) -> ClientResult:
        if strikes(send.send):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().send(send, message)


class Stalls(Honest):
    """Never returns from a send, but stays alive."""

    def send(self, send: PlannedSend, message: Any) -> ClientResult:
        if strikes(send.send):
            threading.Event().wait()
        return super().send(send, message)


class SendsTwice(Honest):
    """Sends some messages a second time, like a client that retries after a successful response."""

    def __init__(self, setup: SubjectSetup, speak: Speak) -> None:
        self._is_secret = threading.local()
        super().__init__(setup, lambda record: None if hasattr(self._is_secret, "now") else speak(record))

    def send(self, send: PlannedSend, message: Any) -> ClientResult:
        answer = super().send(send, message)
        if strikes(send.send):
            self._is_secret.now = True
            super().send(send, message)
            del self._is_secret.now
        return answer


class Drops(Honest):
    """Reports unsent messages as sent, on the queue of the thread's last answer."""

    def __init__(self, setup: SubjectSetup, speak: Speak) -> None:
        super().__init__(setup, speak)
        self._last = threading.local()

    def send(self, send: PlannedSend, message: Any) -> ClientResult:
        if not strikes(send.send):
            self._last.answer = super().send(send, message)
        answer: ClientResult = self._last.answer
        return answer


class IgnoresRetries(Honest):
    """Gives up after the first failed attempt and ignores the setting."""

    def __init__(self, setup: SubjectSetup, speak: Speak) -> None:
        settings = replace(setup.settings, retry_times_when_send_failed=0)
        super().__init__(replace(setup, settings=settings), speak)


class NeverCallsBack(Honest):
    """Never calls back for some asynchronous sends."""

    def send_async(self, send: PlannedSend, message: Any, on_end: Told) -> None:
        super().send_async(send, message, (lambda _end: None) if strikes(send.send) else on_end)


class CallsBackTwice(Honest):
    """Calls back twice for some asynchronous sends."""

    def send_async(self, send: PlannedSend, message: Any, on_end: Told) -> None:
        def twice(end: ClientResult | Exception) -> None:
            on_end(end)
            on_end(end)

        super().send_async(send, message, twice if strikes(send.send) else on_end)


class Reorders(Honest):
    """Swaps some messages with the next one; each call reports the result of the other's message."""

    def message(self, send: PlannedSend) -> Any:
        pair = send.send | 1
        return super().message(replace(send, send=send.send ^ 1) if strikes(pair) else send)


class DropsAProperty(Honest):
    """Sends some messages without their keys and properties."""

    def message(self, send: PlannedSend) -> Any:
        return super().message(replace(send, keys="", properties=()) if strikes(send.send) else send)


class ForgetsDelays(Honest):
    """Sends some delayed messages without their delay."""

    def message(self, send: PlannedSend) -> Any:
        return super().message(replace(send, delay_level=0) if strikes(send.send) else send)


class RemotingSendRequestException(Exception):
    """A toy's invented loss of a connection."""


class FailsInCalm(Honest):
    """Reports a lost connection for some sends without trying them."""

    def send(self, send: PlannedSend, message: Any) -> ClientResult:
        if strikes(send.send):
            raise RemotingSendRequestException("a broker that is well")
        return super().send(send, message)


class LosesAnswers(Honest):
    """Discards some responses, reports the connection as lost and sends the message again."""

    def __init__(self, setup: SubjectSetup, speak: Speak) -> None:
        self._try = threading.local()
        super().__init__(setup, lambda record: speak(self._altered(record)))

    def send(self, send: PlannedSend, message: Any) -> ClientResult:
        try:
            if strikes(send.send):
                self._try.number = 0
                super().send(send, message)
                self._try.number = 1
            return super().send(send, message)
        finally:
            self._try.number = None

    def _altered(self, record: Record) -> Record:
        number = getattr(self._try, "number", None)
        if number is None or not isinstance(record, Attempt):
            return record
        lost = replace(record, error="RemotingSendRequestException", status=None)
        return replace(record, attempt=record.attempt + 1) if number else lost


class KeepsNoTimeout(Honest):
    """Waits thirty times its timeout."""

    def __init__(self, setup: SubjectSetup, speak: Speak) -> None:
        settings = replace(setup.settings, send_msg_timeout_ms=30 * setup.settings.send_msg_timeout_ms)
        super().__init__(replace(setup, settings=settings), speak)


class Early(Honest):
    """Waits half its timeout."""

    def __init__(self, setup: SubjectSetup, speak: Speak) -> None:
        settings = replace(setup.settings, send_msg_timeout_ms=setup.settings.send_msg_timeout_ms // 2)
        super().__init__(replace(setup, settings=settings), speak)


class AsyncNoFailover(Honest):
    """Retries an asynchronous send at the broker that has just failed."""

    def __init__(self, setup: SubjectSetup, speak: Speak) -> None:
        super().__init__(setup, speak, without_failover(_RELEASE))


class OkWithoutAnswer(Honest):
    """Reports success as soon as a request is written."""

    def __init__(self, setup: SubjectSetup, speak: Speak) -> None:
        self._written = threading.local()
        self._speak_of = speak
        super().__init__(setup, self._write)

    def send(self, send: PlannedSend, message: Any) -> ClientResult:
        super().send_oneway(send, message)
        broker, queue_id = self._written.place
        return ClientResult("SEND_OK", broker, queue_id, None)

    def _write(self, record: Record) -> None:
        if isinstance(record, Attempt):
            self._written.place = (record.broker, record.queue_id)
            record = replace(record, status="SEND_OK") if record.error is None else record
        self._speak_of(record)


class LeaksConnections(Honest):
    """Leaks a connection to the name server at some sends."""

    def __init__(self, setup: SubjectSetup, speak: Speak) -> None:
        super().__init__(setup, speak)
        self._forgotten: list[socket.socket] = []
        host, _, port = setup.name_servers[0].rpartition(":")
        self._server = (host.strip("[]"), int(port))

    def send(self, send: PlannedSend, message: Any) -> ClientResult:
        if strikes(send.send):
            self._forgotten.append(socket.create_connection(self._server))
        return super().send(send, message)


class LiesAboutStatus(Honest):
    """Returns SEND_OK for every stored message and ignores its status."""

    def send(self, send: PlannedSend, message: Any) -> ClientResult:
        return super().send(send, message)._replace(status="SEND_OK")


class FirstAddresses(dict[str, Mapping[int, str]]):
    """Addresses by broker; the first of each is kept."""

    def update(self, found: Iterable[tuple[str, Mapping[int, str]]]) -> None:  # type: ignore[override]  # as KnownRoutes calls it
        for broker, members in found:
            self.setdefault(broker, members)

    def __delitem__(self, _broker: str) -> None:
        """Does nothing."""


class KeepsAddresses(Honest):
    """Keeps the address at which it first found a broker, whatever later routes say."""

    def __init__(self, setup: SubjectSetup, speak: Speak) -> None:
        super().__init__(setup, speak)
        self._producer._parts.client.memory.known.addresses = FirstAddresses()  # noqa: SLF001 - a defect deep inside


class AlwaysBeginsAtZero(Honest):
    """Starts every thread's counter at the same number."""

    def __init__(self, setup: SubjectSetup, speak: Speak) -> None:
        super().__init__(setup, speak, tapes=StartsAtZero)


def honestly(record: Record) -> Reported:
    """Report records unchanged."""
    return (record,)


def telling_send_ok(record: Record) -> Reported:
    """Report SEND_OK for every acknowledged attempt."""
    if isinstance(record, Attempt) and record.status is not None:
        record = replace(record, status="SEND_OK")
    return (record,)


def answering_twice(record: Record) -> Reported:
    """Report some answers twice."""
    return (record, record) if isinstance(record, Send) and strikes(record.send) else (record,)


def lying_about_queues() -> Speech:
    """Report the next queue of the same broker, in attempts and answers of some sends."""
    queues: dict[str, int] = {}

    def reported_at_next(record: Record) -> Reported:
        if isinstance(record, RouteSeen):
            for broker, number in record.queues:
                queues[broker] = max(queues.get(broker, 0), number + 1)
        return (_on_next_queue(record, queues),)

    return reported_at_next


def speaking_nonsense(record: Record) -> Reported:
    """Write a line that is no record after some answers."""
    nonsense = b"Exception in thread main: who is there?\n"
    return (record, nonsense) if isinstance(record, Send) and strikes(record.send) else (record,)


def as_if_synchronous(record: Record) -> Reported:
    """Report some asynchronous sends as synchronous: without the return time of the call."""
    return (replace(record, returned_ns=None) if isinstance(record, Send) and strikes(record.send) else record,)


def without_attempts(record: Record) -> Reported:
    """Report neither attempts nor routes, like a client without hooks."""
    if isinstance(record, Attempt | RouteSeen):
        return ()
    return (replace(record, route=0, route_after=0) if isinstance(record, Send) else record,)


def without_id(record: Record) -> Record:
    """Name no client id, like a client that does not show it."""
    return replace(record, client_id=None) if isinstance(record, Joined) else record


def misreporting(defect: ReportedDefect) -> Speech:
    """Report records with this defect applied."""
    return lambda record: () if (otherwise := reported(defect, record)) is None else (otherwise,)


def _on_next_queue(record: Record, queues: Mapping[str, int]) -> Record:
    if isinstance(record, Attempt | Send) and strikes(record.send) and record.broker is not None:
        assert record.queue_id is not None
        return replace(record, queue_id=(record.queue_id + 1) % queues[record.broker])
    return record


Behaviour = tuple[Callable[[SubjectSetup, Speak], Client], Speech]

BEHAVIOURS: dict[str, Behaviour] = {
    "honest": (Honest, honestly),
    "answers-twice": (Honest, answering_twice),
    "dies-mid-send": (DiesMidSend, honestly),
    "stalls": (Stalls, honestly),
    "lies-about-queue": (Honest, lying_about_queues()),
    "sends-twice": (SendsTwice, honestly),
    "drops": (Drops, honestly),
    "ignores-retries": (IgnoresRetries, honestly),
    "speaks-nonsense": (Honest, speaking_nonsense),
    "never-calls-back": (NeverCallsBack, honestly),
    "calls-back-twice": (CallsBackTwice, honestly),
    "reorders": (Reorders, honestly),
    "drops-a-property": (DropsAProperty, honestly),
    "forgets-delays": (ForgetsDelays, honestly),
    "ignores-mode": (Honest, as_if_synchronous),
    "plain-only": (Honest, honestly),
    "no-hooks": (Honest, without_attempts),
    "fails-in-calm": (FailsInCalm, honestly),
    "loses-answers": (LosesAnswers, honestly),
    "keeps-no-timeout": (KeepsNoTimeout, honestly),
    "early": (Early, honestly),
    "async-no-failover": (AsyncNoFailover, honestly),
    "ok-without-answer": (OkWithoutAnswer, honestly),
    **{name: (Honest, misreporting(defect)) for name, defect in REPORTED_DEFECTS.items()},
    "leaks-connections": (LeaksConnections, honestly),
    "lies-about-status": (LiesAboutStatus, telling_send_ok),
    "keeps-addresses": (KeepsAddresses, honestly),
    "always-begins-at-zero": (AlwaysBeginsAtZero, honestly),
}

CLAIMS: dict[str, tuple[str, ...]] = {
    "plain-only": ("plain", "attempts", "routes"),
    "no-hooks": tuple(claim for claim in capabilities_of(_RELEASE) if claim not in ("attempts", "routes")),
}
"""Capabilities of toys that do not claim all of the reference's."""

HOOKS = frozenset({ALLOCATIONS, OWNED, OFFSETS})
"""Capabilities that a member needs hooks for."""


def main() -> None:
    """Run until the command stop or the end of stdin."""
    parser = argparse.ArgumentParser(description="The reference with a known defect, as a subject of rocketdiff.")
    parser.add_argument("--defect", required=True, choices=(*BEHAVIOURS, *MEMBER_TOYS))
    defect = parser.parse_args().defect
    writer = RecordWriter(own_stdout())
    if defect in MEMBER_TOYS:
        member = as_consumer(_RELEASE, MEMBER_TOYS[defect])
        is_hookless = defect.startswith(HOOKLESS)
        own = tuple(claim for claim in member_capabilities(_RELEASE) if not is_hookless or claim not in HOOKS)

        def report(record: Record) -> None:
            if not (is_hookless and isinstance(record, Allocated | Owned | OffsetSeen)):
                writer.put(without_id(record) if is_hookless else record)

        run_subject(SubjectId(_CLIENT, defect), own, member, writer, report)
    make_client, speech = BEHAVIOURS[defect]
    claims = CLAIMS.get(defect, capabilities_of(_RELEASE))

    def speak(record: Record) -> None:
        for line in speech(record):
            writer.put(line)

    run_subject(SubjectId(_CLIENT, defect), claims, as_producer(make_client), writer, speak)


if __name__ == "__main__":
    main()
