"""The state before an answer where the trace has none: before a script's first answer, or after a dump."""

from dataclasses import replace
from typing import Any

from rocketdiff.core.errors import HarnessError
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.simulation.comparison.answers import answer_line
from rocketdiff.simulation.comparison.difference import AnswerDifference
from rocketdiff.simulation.script.depths import depth_of
from rocketdiff.simulation.script.model import NamedScript, Step, Timeline
from rocketdiff.simulation.script.roles import role_of
from rocketdiff.simulation.script.steps.environment import Dump
from rocketdiff.simulation.script.vocabulary import DumpPart
from rocketdiff.simulation.virtual import dialect_for, run_reference

_SHARED = (DumpPart.QUEUES, DumpPart.FAULTS)
_OF_THREAD_0 = (DumpPart.INDEX, DumpPart.WORST_INDEX, *_SHARED)


def with_initial_state(script: NamedScript, difference: AnswerDifference, release: str) -> AnswerDifference:
    """
    Fill in ``before`` if the trace has states but none before the difference.

    The reference runs the preceding steps in the release's dialect and dumps the state. If that fails, the difference is
    returned unchanged.
    """
    is_producer = role_of(script.script) is ClientRole.PRODUCER
    if difference.before is not None or not any(difference.states) or not is_producer:
        return difference
    return replace(difference, before=_state_before(script, difference.step, release))


def _state_before(named: NamedScript, step: int, release: str) -> dict[str, Any] | None:
    script = named.script
    asked = Dump(_parts(script.steps[step]))
    shortened = replace(script, depth=depth_of(script), steps=(*script.steps[:step], asked))
    try:
        lines = run_reference(dialect_for(script, release), named.name, shortened, trace=True)
    except HarnessError:
        return None
    state: dict[str, Any] = answer_line(lines[-1]).content
    return state


def _parts(step: Step) -> tuple[DumpPart, ...]:
    """A dump has the counters of thread 0, so they are left out where another thread acts."""
    of_another = isinstance(step, Timeline) or getattr(step, "thread", 0) != 0
    return _SHARED if of_another else _OF_THREAD_0
