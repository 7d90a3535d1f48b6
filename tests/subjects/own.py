"""A client unknown to rocketdiff: the reference under `--name`, in the roles of `--role`; other flags make it misbehave."""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace

from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import Attempt, RouteSeen, Send
from rocketdiff.core.records.session import Hello
from rocketdiff.core.sends.outcome import word_of
from rocketdiff.core.subject import SubjectId
from rocketdiff.drivers.python import session
from rocketdiff.drivers.python.consuming.reference import as_consumer, member_capabilities
from rocketdiff.drivers.python.sending import reference
from rocketdiff.drivers.python.sending.reference import ReferenceClient, capabilities_of
from rocketdiff.drivers.python.sending.runner import as_producer
from rocketdiff.drivers.python.session import Speak, own_stdout, run_subject
from rocketdiff.drivers.python.writer import RecordWriter
from rocketdiff.protocol.commands import SubjectSetup


def main() -> None:
    """Run until stop or the runner's end."""
    given = _flags()
    if given.print:
        print(given.print, flush=True)  # noqa: T201 - the misbehaviour
    if given.silent:
        time.sleep(3_600)
    if given.stay:
        session.leave = lambda *_: time.sleep(3_600)
    if given.body:
        vars(reference)["body_of"] = lambda *_: given.body.encode()
    able = (*capabilities_of("5.3.3"), *(member_capabilities("5.3.3") if "consumer" in given.role else ()))
    claims = (*(claim for claim in able if claim not in given.without), *given.claim)
    writer = RecordWriter(own_stdout())
    subject = SubjectId.parse(given.name)
    speak = _speaking(given, writer.put)
    roles = {**as_producer(lambda setup, printed: _client(given, setup, printed)), **as_consumer("5.3.3")}
    acts = {role: runner for role, runner in roles.items() if role in (given.role or ["producer"])}
    run_subject(subject, claims, acts, writer, speak)


def _flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="acme:1.0")
    parser.add_argument("--role", action="append", default=[])
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--print", default="")
    parser.add_argument("--silent", action="store_true")
    parser.add_argument("--stay", action="store_true", help="do not end when told to stop")
    parser.add_argument("--body", default="", help="send this and not the planned body")
    parser.add_argument("--claim", action="append", default=[], help="claim what it does not have")
    parser.add_argument("--words", action="store_true", help="report errors in neutral words, and no causes")
    parser.add_argument("--starts", action="store_true", help="report attempts when they begin, without their ends")
    parser.add_argument("--attempt-timeout", type=int, help="say so, and wait so long whatever the setting is")
    return parser.parse_args()


def _client(given: argparse.Namespace, setup: SubjectSetup, speak: Speak) -> ReferenceClient:
    own_ms = given.attempt_timeout
    settings = replace(setup.settings, send_msg_timeout_ms=own_ms or setup.settings.send_msg_timeout_ms)
    return ReferenceClient("5.3.3", replace(setup, settings=settings), speak)


def _speaking(given: argparse.Namespace, put: Callable[[Record | bytes], None]) -> Speak:
    changes: list[Callable[[Record], Record | bytes]] = []
    if given.words:
        changes.append(_in_words)
    if given.attempt_timeout:
        changes.append(lambda record: _with_timeout(record, given.attempt_timeout))

    if "routes" in given.without:
        changes.append(_without_route)
    if given.starts:
        changes.append(_beginning)

    def speaking(record: Record) -> None:
        output: Record | bytes = record
        for change in changes:
            output = output if isinstance(output, bytes) else change(output)
        if not ("routes" in given.without and isinstance(output, RouteSeen)):
            put(output)

    return speaking


def _without_route(record: Record) -> Record:
    return replace(record, route=0, route_after=0) if isinstance(record, Send) else record


def _beginning(record: Record) -> Record | bytes:
    """Report an attempt's start without its end, late because the reference has no earlier hook."""
    if not isinstance(record, Attempt):
        return record
    names = ("send", "thread", "attempt", "broker", "queue_id", "start_ns")
    return json.dumps({"type": "attempt", **{name: getattr(record, name) for name in names}}).encode() + b"\n"


def _in_words(record: Record) -> Record:
    if not isinstance(record, Attempt | Send) or record.error is None:
        return record
    if isinstance(record, Attempt):
        return replace(record, error=str(word_of(record.error, record.code)))
    word = word_of(record.error, record.code, record.cause)
    return replace(record, error=str(word), cause=None, code=record.code if word == "broker-code" else None)


def _with_timeout(record: Record, own_ms: int) -> Record:
    return replace(record, attempt_timeout_ms=own_ms) if isinstance(record, Hello) else record


if __name__ == "__main__":
    main()
