"""Execution of the steps of a script."""

from rocketdiff.simulation.script.model import (
    Advance,
    Dump,
    Select,
    Send,
    SetIndex,
    SetWorstIndex,
    Step,
    Timeline,
)
from rocketdiff.simulation.virtual.environment import act
from rocketdiff.simulation.virtual.lines import head
from rocketdiff.simulation.virtual.session import ScriptSession
from rocketdiff.simulation.virtual.timeline import run_timeline
from rocketmq_reference.client.effects import Body, Wait


def do_step(session: ScriptSession, number: int, step: Step) -> Body | None:
    """Do one step on sender 0; return an actor for a step that takes time or has to wait its turn."""
    where = head(session.name, number)
    match step:
        case Select(thread=0) if not session.kernel.is_due:
            session.select(where, step)
        case Select() | Send():
            return session.by_thread(where, step)
        case Advance(ms):
            return _advance(session, ms)
        case SetIndex(value, thread):
            session.selector(thread).index.value = value
            session.changed(where, "index", thread)
        case SetWorstIndex(value, thread):
            session.selector(thread).worst_index.value = value
            session.changed(where, "worst_index", thread)
        case Dump(parts):
            session.dump(where, parts)
        case Timeline():
            return run_timeline(session, number, step)
        case _:
            return act(session, where, step)
    return None


def _advance(session: ScriptSession, ms: int) -> Body:
    yield Wait(until_ms=session.kernel.now_ms + ms)
    yield from session.kernel.settle()
