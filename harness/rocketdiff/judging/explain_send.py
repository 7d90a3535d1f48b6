"""The rules applied to one send of a stored run, and the other arm's same send."""

from collections.abc import Iterator

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.sending.send_view import Copy, SendView
from rocketdiff.analysis.sending.sends import sends_of
from rocketdiff.analysis.sending.steps.reconciled import StoredCopies
from rocketdiff.analysis.sending.steps.rulebook import reports_causes
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import UsageError
from rocketdiff.core.sends.message import ID_PROPERTY, sys_flag_text
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.text.quoted import printable
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.producer.explain import explain
from rocketdiff.traces.reader import sealed_files
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName

PROPERTY_LENGTH = 80
"""Characters printed of a property."""


def explain_send(trace: CaseTrace, run: RunDirectory, arm: Arm, where: str) -> Iterator[str]:
    """
    Yield lines about a send: the rules, the thread's send before it, and its stored copies in both arms.

    where: number of the send. Raises UsageError for anything else, and for a send that the arm did not answer.
    """
    if not where.isdecimal():
        raise UsageError("the number of a send", seen=where, hint="for example 0, the first")
    send = int(where)
    sealed_files(run, TableName.SENDS)  # raises for a missing table, which would otherwise read as no sends
    yield from explain_traced(trace, run, arm, send)
    yield from _before(trace, arm, send)
    for side in (arm, *(other for other in Arm if other is not arm)):
        yield from _stored(trace, run, side, send)


def explain_traced(trace: CaseTrace, run: RunDirectory, arm: Arm, send: int) -> Iterator[str]:
    """Yield the rules of a send and what both arms did. The baseline's rules explain both arms, as they were judged."""
    baseline = SubjectId.parse(run.subject(Arm.BASELINE))
    sends = [view for view in sends_of(trace, arm) if view.row is not None]
    wanted = next((view for view in sends if view.send == send), None)
    if wanted is None:
        numbers = f"0 … {sends[-1].send}" if sends else "none"
        raise UsageError(
            f"a send that {run.subject(arm)} answered in {trace.entry.name}", seen=f"{send}", hint=f"it has {numbers}"
        )
    yield f"{trace.entry.name}, {run.subject(arm)}"
    if wanted.row is not None and wanted.row.mode is SendMode.ASYNC:
        # A client thread chooses its first queue between other sends' choices; further threads decide the rest.
        yield "an asynchronous send: its rules are not listed; observed:"
        yield from _what_it_did(wanted)
        yield from _other_arm(trace, run, arm, send)
        return
    settings, routes = trace.entry.settings, trace.routes(arm)
    returned = (view.row for view in sends if view.row is not None)
    causes_reported = reports_causes(trace, arm)
    yield from explain(
        trace.rules_given or baseline.release,
        settings,
        routes,
        returned,
        send=send,
        thread=wanted.thread,
        causes_reported=causes_reported,
    )
    yield from _other_arm(trace, run, arm, send)


def _other_arm(trace: CaseTrace, run: RunDirectory, arm: Arm, send: int) -> Iterator[str]:
    other = next(side for side in Arm if side is not arm)
    same = next((view for view in sends_of(trace, other) if view.send == send), None)
    yield f"the other arm, {run.subject(other)}:"
    if same is None:
        yield "  did not reach this send"
        return
    yield from _what_it_did(same)


def _before(trace: CaseTrace, arm: Arm, send: int) -> Iterator[str]:
    """The thread's previous send: its end determines the next queue in rotation."""
    views = list(sends_of(trace, arm))
    thread = next(view.thread for view in views if view.send == send)
    earlier = [view for view in views if view.thread == thread and view.send < send]
    if earlier:
        yield f"before it in thread {thread}, send {earlier[-1].send}:"
        yield from _what_it_did(earlier[-1])


def _stored(trace: CaseTrace, run: RunDirectory, arm: Arm, send: int) -> Iterator[str]:
    """The copies that the brokers store; no line if their queues were not read."""
    table = trace.stored(arm)
    if table is None:
        return
    copies = StoredCopies(table).of(send)
    yield f"stored of it by {run.subject(arm)}:" if copies else f"no message of it is stored by {run.subject(arm)}"
    for copy in copies:
        yield f"  queue {copy.queue_id} of {copy.broker}, offset {copy.queue_offset:,}{_carried_text(copy)}"


def _carried_text(copy: Copy) -> str:
    """Its properties except rocketdiff's id, and its system flag; empty for traces without them."""
    own = (
        f"{name}={printable(value, PROPERTY_LENGTH)}" for name, value in copy.carried().items() if name != ID_PROPERTY
    )
    flag = () if copy.sys_flag is None else (f"system flag {sys_flag_text(copy.sys_flag)}",)
    return "".join(f", {word}" for word in (*own, *flag))


def _what_it_did(send: SendView) -> Iterator[str]:
    for attempt in send.attempts:
        took_ms = (attempt.end_ns - attempt.start_ns) / NS_PER_MS
        ended = attempt.error or attempt.status or "no status"
        yield f"  attempt {attempt.attempt + 1} to queue {attempt.queue_id} of {attempt.broker}: {ended} after {took_ms:,.1f} ms"
    if send.row is None:
        yield "  never returned"
    else:
        took_ms = (send.row.end_ns - send.row.start_ns) / NS_PER_MS
        yield f"  returned {send.row.error or send.row.status} after {took_ms:,.1f} ms"
