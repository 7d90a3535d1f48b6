"""Runs a script on the reference."""

from collections.abc import Callable

from rocketdiff.simulation.script.model import Script
from rocketdiff.simulation.virtual.session import ScriptSession
from rocketdiff.simulation.virtual.steps import do_step
from rocketmq_reference.client.effects import Body
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.queue_choice.events import Event, Observer

LineObserver = Callable[[int, Event], None]
"""Called with the number of the next answer line and the event that a rule reports."""


def run_reference(
    dialect: Dialect, name: str, script: Script, *, trace: bool = False, observer: LineObserver | None = None
) -> list[str]:
    """
    Return the answer lines of the reference, in a dialect, to a script called ``name``.

    trace: add a line for every step that changes the client, and the state to each line. Raises UsageError for an endless
    script.
    """
    watch = None if observer is None else _watch(observer, lambda: len(session.lines))
    session = ScriptSession(dialect, name, script, trace=trace, observer=watch)

    def play() -> Body:
        for number, step in enumerate(script.steps):
            actor = do_step(session, number, step)
            if actor is not None:
                yield from actor

    session.run(script, play)
    return session.lines


def _watch(observer: LineObserver, line: Callable[[], int]) -> Observer:
    return lambda event: observer(line(), event)
