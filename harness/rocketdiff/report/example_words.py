"""
One example in words: each attempt, the end of the call, what the brokers stored, and the figures behind it.

The detail of an example belongs to its check. This module reads the parts that exact checks share (``sends``, ``stored``,
``rules``) and shows everything else as name and value.
"""

from collections.abc import Iterator, Mapping

from rocketdiff.core.plots import LaneAttempt
from rocketdiff.core.verdict import Example
from rocketdiff.report.words import number

_SHOWN_ELSEWHERE = frozenset({"decisions", "sends", "stored", "run"})


def attempt_text(attempt: LaneAttempt) -> str:
    """``broker-b, queue 3: no answer (timeout) after 500 ms``."""
    took = attempt.end_ms - attempt.start_ms
    ended = {"ok": "stored", "unknown": "no answer", "failed": "failed"}.get(attempt.outcome, attempt.outcome)
    why = "" if attempt.reason in ("", "none") else f" ({attempt.reason})"
    return f"{attempt.broker}, queue {attempt.queue_id}: {ended}{why} after {number(took)} ms"


def call_text(call: object) -> str:
    """The end of the application's call; empty if unknown."""
    if not isinstance(call, Mapping):
        return ""
    elapsed = call.get("elapsed_ms")
    after = f" after {number(elapsed)} ms" if isinstance(elapsed, int | float) else ""
    if call.get("error") is None:
        return f"returned {call.get('status') or 'without a status'}{after}"
    cause = f", caused by {call['cause']}" if call.get("cause") else ""
    code = "" if call.get("code") is None else f", code {call['code']}"
    return f"threw {call['error']}{cause}{code}{after}"


def stored_text(copies: object) -> str:
    """Where the brokers stored the message; empty if the example does not say."""
    if not isinstance(copies, list | tuple):
        return ""
    if not copies:
        return "stored nowhere"
    places = "; ".join(f"{broker} queue {queue} offset {offset}" for broker, queue, offset in copies)
    return f"stored {len(copies)} times: {places}" if len(copies) > 1 else f"stored at {places}"


def detail_lines(example: Example) -> tuple[tuple[str, str], ...]:
    """Name and value of all other details, nested names joined by a dot."""
    rest = {name: value for name, value in example.detail.items() if name not in _SHOWN_ELSEWHERE}
    return tuple(_flat(rest, ""))


def _flat(values: Mapping[str, object], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, plain_text(value)


def plain_text(value: object) -> str:
    """A JSON value for people."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {plain_text(inner)}" for key, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(plain_text(inner) for inner in value)
    if isinstance(value, float):
        return number(value)
    return "–" if value is None else str(value)
