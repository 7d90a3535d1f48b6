"""Runs a script on the reference."""

from collections.abc import Callable, Mapping
from contextlib import suppress

from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.simulation.script.model import Script
from rocketdiff.simulation.script.roles import role_of
from rocketdiff.simulation.script.vocabulary import Lookup
from rocketdiff.simulation.virtual.codec import TOPIC
from rocketdiff.simulation.virtual.sending_session import SendingSession
from rocketdiff.simulation.virtual.session import RoleSession, ScriptSession
from rocketdiff.simulation.virtual.steps import do_step
from rocketmq_reference.client.effects import Body, Signal
from rocketmq_reference.remoting.errors import IllegalStateException
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.events import Event, Observer

LineObserver = Callable[[int, Event], None]
"""Called with the number of the next answer line and the event that a rule reports."""

ROLE_SESSIONS: Mapping[ClientRole, Callable[[ScriptSession, Dialect, Script, Observer | None], RoleSession]] = {
    ClientRole.PRODUCER: SendingSession
}


def run_reference(
    dialect: Dialect, name: str, script: Script, *, trace: bool = False, observer: LineObserver | None = None
) -> list[str]:
    """
    Return the answer lines of the reference, in a dialect, to a script called ``name``.

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
        with suppress(IllegalStateException):
            yield from role.client.routes.refresh(TOPIC)
    for number, step in enumerate(script.steps):
        actor = do_step(role, number, step)
        if actor is not None:
            yield from actor
    yield from role.finish()


def _watch(observer: LineObserver, session: ScriptSession) -> Observer:
    return lambda event: observer(len(session.lines), event)
