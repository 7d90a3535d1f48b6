"""Coverage of an observation, which can distinguish releases only by situations that occurred."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

from rocketdiff.simulation.golden.answers import Lines
from rocketdiff.simulation.script import Script, Step
from rocketdiff.simulation.script.model import Timeline
from rocketdiff.simulation.script.steps.sending import Select, Send
from rocketdiff.simulation.script.vocabulary import Mode

SILENCE = {"timeout"}
BROKEN = {"refused", "reset"}


@dataclass(slots=True)
class Coverage:
    """Situations that occurred at least once."""

    retry: bool = False
    fault_latency: bool = False
    silent_broker: bool = False
    broken_connection: bool = False
    error_answer: bool = False
    asynchronous_send: bool = False
    one_way_send: bool = False

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(field.name.replace("_", " ") for field in fields(self) if not getattr(self, field.name))


def coverage_of(scripts: Iterable[tuple[Script, Lines]]) -> Coverage:
    """Return the situations that occurred in scripts and their answers."""
    found = Coverage()
    for script, lines in scripts:
        found.fault_latency |= script.settings.send_latency_fault_enable
        for action in _actions(script.steps):
            found.retry |= isinstance(action, Select) and action.last_broker is not None
            found.asynchronous_send |= isinstance(action, Send) and action.mode is Mode.ASYNC
            found.one_way_send |= isinstance(action, Send) and action.mode is Mode.ONE_WAY
        for line in lines:
            _note_send(found, json.loads(line).get("send"))
    return found


def _note_send(found: Coverage, send: object) -> None:
    attempts = send.get("attempts") if isinstance(send, dict) else None
    outcomes = [attempt.get("outcome") for attempt in attempts or () if isinstance(attempt, dict)]
    found.retry |= len(outcomes) > 1
    found.silent_broker |= bool(SILENCE.intersection(outcomes))
    found.broken_connection |= bool(BROKEN.intersection(outcomes))
    found.error_answer |= "code" in outcomes


def _actions(steps: Iterable[Step]) -> Iterator[object]:
    for step in steps:
        if isinstance(step, Timeline):
            yield from (entry.action for entry in step.entries)
        else:
            yield step
