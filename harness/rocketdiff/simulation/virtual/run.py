"""Runs a script on the reference."""

from collections.abc import Callable, Mapping
from typing import Any

from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.simulation.script.depths import depth_of
from rocketdiff.simulation.script.model import Script, Step, Timeline
from rocketdiff.simulation.script.roles import role_of
from rocketdiff.simulation.script.steps.environment import Advance, Dump
from rocketdiff.simulation.script.steps.subscribing import Join
from rocketdiff.simulation.script.vocabulary import Depth, DumpPart, Lookup
from rocketdiff.simulation.virtual.assembly import VirtualClient
from rocketdiff.simulation.virtual.consuming.allocation_session import AllocationSession
from rocketdiff.simulation.virtual.consuming.lite_session import LiteSession
from rocketdiff.simulation.virtual.consuming.process_queue_session import ProcessQueueSession
from rocketdiff.simulation.virtual.consuming.push_session import PushSession
from rocketdiff.simulation.virtual.consuming.rebalance_session import RebalanceSession
from rocketdiff.simulation.virtual.environment import act
from rocketdiff.simulation.virtual.kernel import Kernel
from rocketdiff.simulation.virtual.lines import dump_text, head, text
from rocketdiff.simulation.virtual.sending_session import SendingSession
from rocketdiff.simulation.virtual.session import RoleSession, ScriptSession
from rocketdiff.simulation.virtual.timeline import run_timeline
from rocketmq_reference.client.effects import Body, Signal, Wait
from rocketmq_reference.dialects import consumer_dialect_of, dialect_of
from rocketmq_reference.rules.dialect import ConsumerDialect, Dialect
from rocketmq_reference.rules.queue_choice.events import Event, Observer

LineObserver = Callable[[int, Event], None]
"""Called with the number of the next answer line and the event that a rule reports."""


_CONSUMERS: Mapping[Depth, type[AllocationSession]] = {
    Depth.ALLOCATION: AllocationSession,
    Depth.PROCESS_QUEUE: ProcessQueueSession,
    Depth.REBALANCE: RebalanceSession,
    Depth.CONSUMER: PushSession,
}


def _consumer(
    session: ScriptSession, dialect: ConsumerDialect, script: Script, observer: Observer | None
) -> RoleSession:
    if any(isinstance(step, Join) and step.polls for step in script.steps):
        return LiteSession(session, dialect, script, observer)
    return _CONSUMERS[depth_of(script)](session, dialect, script, observer)


ROLE_SESSIONS: Mapping[ClientRole, Callable[[ScriptSession, Any, Script, Observer | None], RoleSession]] = {
    ClientRole.PRODUCER: SendingSession,
    ClientRole.CONSUMER: _consumer,
}
"""Each gets a dialect of its role."""

ROLE_DIALECTS: Mapping[ClientRole, Callable[[str], Dialect | ConsumerDialect]] = {
    ClientRole.PRODUCER: dialect_of,
    ClientRole.CONSUMER: consumer_dialect_of,
}


def dialect_for(script: Script, release: str) -> Dialect | ConsumerDialect:
    """Return the dialect of a release in the role that a script is about."""
    return ROLE_DIALECTS[role_of(script)](release)


def run_reference(
    dialect: Dialect | ConsumerDialect,
    name: str,
    script: Script,
    *,
    trace: bool = False,
    observer: LineObserver | None = None,
) -> list[str]:
    """
    Return the answer lines of the reference, in a dialect of the script's role, to a script called ``name``.

    trace: add a line for every step that changes the client, and the state to each line. Raises UsageError for an endless
    script.
    """
    session = ScriptSession(name, script, trace=trace)
    watch = None if observer is None else _watch(observer, session)
    role = ROLE_SESSIONS[role_of(script)](session, dialect, script, watch)
    over = Signal()

    def play() -> Body:
        yield from _play(role, script)
        session.kernel.give(over)

    session.kernel.run(play())
    session.kernel.run_until(over)
    return session.lines


def _play(role: RoleSession, script: Script) -> Body:
    if script.lookup is Lookup.BEFORE:
        yield from role.look_up()
    for number, step in enumerate(script.steps):
        actor = _do_step(role, number, step)
        if actor is not None:
            yield from actor
    yield from role.finish()


def _do_step(role: RoleSession, number: int, step: Step) -> Body | None:
    """Do one step on the script's own thread; return an actor for a step that takes time or has to wait its turn."""
    where = head(role.session.name, number)
    match step:
        case Advance(ms):
            return _advance(role.session.kernel, ms)
        case Dump(parts):
            role.session.add(f'{where}"dump": {dump_text({part: _part(role, part) for part in parts})}}}')
        case Timeline():
            return run_timeline(role, number, step)
        case _:
            return act(role, where, step)
    return None


def _advance(kernel: Kernel, ms: int) -> Body:
    yield Wait(until_ms=kernel.now_ms + ms)
    yield from kernel.settle()


def _part(role: RoleSession, part: DumpPart) -> str:
    if part is DumpPart.CLOCK:
        return f'{{"now_ms": {role.session.kernel.now_ms}}}'
    return _connections(role.client) if part is DumpPart.CONNECTIONS else role.part(part)


def _connections(client: VirtualClient) -> str:
    if client.connected is None:
        return "{}"
    counts = client.connected.network.connected()
    return "{" + ", ".join(f"{text(broker)}: {counts[broker]}" for broker in sorted(counts)) + "}"


def _watch(observer: LineObserver, session: ScriptSession) -> Observer:
    return lambda event: observer(len(session.lines), event)
