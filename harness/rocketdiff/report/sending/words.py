"""An example in words: each attempt, the end of the call, what the brokers stored, and the figures."""

from collections.abc import Iterator, Mapping, Sequence

from rocketdiff.core.answers.plots import LaneAttempt
from rocketdiff.core.answers.verdict import CallEnd, Example, StoredAt
from rocketdiff.report.words.signs import number


def attempt_text(attempt: LaneAttempt) -> str:
    """For example ``broker-b, queue 3: no answer (timeout) after 500 ms``."""
    took = attempt.end_ms - attempt.start_ms
    ended = {"ok": "stored", "unknown": "no answer", "failed": "failed"}.get(attempt.outcome, attempt.outcome)
    why = "" if attempt.reason in ("", "none") else f" ({attempt.reason})"
    return f"{attempt.broker}, queue {attempt.queue_id}: {ended}{why} after {number(took)} ms"


def call_text(call: CallEnd | None) -> str:
    """Return the end of the application's call; empty if unknown."""
    if call is None:
        return ""
    after = "" if call.elapsed_ms is None else f" after {number(call.elapsed_ms)} ms"
    if call.error is None:
        return f"returned {call.status or 'without a status'}{after}"
    cause = f", caused by {call.cause}" if call.cause else ""
    code = "" if call.code is None else f", code {call.code}"
    return f"threw {call.error}{cause}{code}{after}"


def stored_text(copies: Sequence[StoredAt] | None) -> str:
    """Return where the brokers stored the message; empty if the example does not contain it."""
    if copies is None:
        return ""
    if not copies:
        return "stored nowhere"
    places = "; ".join(f"{copy.broker} queue {copy.queue_id} offset {copy.queue_offset}" for copy in copies)
    return f"stored {len(copies)} times: {places}" if len(copies) > 1 else f"stored at {places}"


def detail_lines(example: Example) -> tuple[tuple[str, str], ...]:
    """Return name and value of all figures, nested names joined by a dot."""
    return tuple(_flat(example.figures, ""))


def _flat(values: Mapping[str, object], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, plain_text(value)


def plain_text(value: object) -> str:
    """Return a JSON value as readable text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {plain_text(inner)}" for key, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(plain_text(inner) for inner in value)
    if isinstance(value, float):
        return number(value)
    return "–" if value is None else str(value)
