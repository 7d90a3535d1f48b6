"""The rule decisions that led to one answer of the reference, as readable lines."""

from collections.abc import Iterator

from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.producer.explain import story_lines
from rocketdiff.simulation.comparison.answers import AnswerLine, answer_line
from rocketdiff.simulation.script.model import NamedScript
from rocketdiff.simulation.virtual import dialect_for, run_reference
from rocketmq_reference.rules.queue_choice.events import Event

_MOST_LINES = 40
"""Limit of printed lines: a selection may pass a hundred queues."""


def story(script: NamedScript, release: str, wanted: AnswerLine) -> tuple[str, ...]:
    """
    Return the decisions behind one answer and the end of each attempt, in order; empty if no rule reported any.

    Concurrent sends are reported together.
    """
    seen: list[tuple[int, Event]] = []
    lines = run_reference(
        dialect_for(script.script, release),
        script.name,
        script.script,
        trace=True,
        observer=lambda number, event: seen.append((number, event)),
    )
    found = next(_matching(lines, wanted), None)
    if found is None:
        return ()
    number, answer = found
    events = [event for line, event in seen if line == number]
    queues = len((answer.state or {}).get("queues", ()))
    return tuple(story_lines(events, _as_send(answer), queues))[:_MOST_LINES] if events else ()


def _matching(lines: list[str], wanted: AnswerLine) -> Iterator[tuple[int, AnswerLine]]:
    for number, line in enumerate(lines):
        answer = answer_line(line)
        if (answer.kind, answer.place) == (wanted.kind, wanted.place):
            yield number, answer


def _as_send(answer: AnswerLine) -> Send:
    """The answer as the oracle's Send; a selection becomes a send without attempts."""
    attempts = answer.content.get("attempts", ()) if answer.kind == "send" else ()
    return Send(
        send=0,
        thread=0,
        start_ns=0,
        end_ns=0,
        attempts=tuple(
            Attempt(
                send=0,
                thread=0,
                attempt=number,
                broker=attempt["broker"] or "a name server",
                queue_id=attempt["queue_id"],
                start_ns=0,
                end_ns=(attempt["elapsed_ms"] or 0) * NS_PER_MS,
                code=attempt.get("code"),
                status=attempt["outcome"],
            )
            for number, attempt in enumerate(attempts)
        ),
    )
