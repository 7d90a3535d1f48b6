"""
What an application gets otherwise from two answers of consumers: messages, offsets, queues, and only then requests.

The first of these questions that the answers reply to differently is the outcome, because the later ones follow from it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from rocketdiff.simulation.comparison.answers import AnswerLine, answer_line


class Outcome(StrEnum):
    """What a difference is about, the gravest first."""

    START = "start"
    MESSAGES = "messages"
    WAITING = "waiting"
    QUEUES = "queues"
    REQUESTS = "requests"


@dataclass(frozen=True, slots=True)
class OutcomeDifference:
    """The gravest difference of two answers, in words."""

    outcome: Outcome
    words: str


@dataclass(slots=True)
class _Heard:
    """
    All that brokers and listeners heard in one answer.

    started: what the start printed. delivered: times in ms by message. order: messages by queue. back: delay levels by message that was
    sent back. sent: with what the member itself sends failed messages, in turn. committed: the time of each offset by queue, the last one
    last. pulled: times in ms by queue. hooked: times in ms by message that a hook saw. transactions: messages that came with the id of
    theirs. asked: number by kind of request.
    """

    started: list[object] = field(default_factory=list)
    delivered: dict[str, list[int]] = field(default_factory=dict)
    order: dict[str, list[str]] = field(default_factory=dict)
    back: dict[str, list[str]] = field(default_factory=dict)
    sent: list[tuple[str, ...]] = field(default_factory=list)
    committed: dict[str, dict[int, int]] = field(default_factory=dict)
    pulled: dict[str, list[int]] = field(default_factory=dict)
    hooked: dict[str, list[int]] = field(default_factory=dict)
    transactions: set[str] = field(default_factory=set)
    asked: dict[str, int] = field(default_factory=dict)


def outcome_of(left: Sequence[str], right: Sequence[str]) -> OutcomeDifference | None:
    """Return the gravest difference of two answers; None if they are no answers of a member, or differ in nothing heard."""
    one, other = (_heard(map(answer_line, lines)) for lines in (left, right))
    for outcome, question in _QUESTIONS:
        if words := next(question(one, other), None):
            return OutcomeDifference(outcome, words)
    return None


def sends_end(left: Sequence[str], right: Sequence[str]) -> str:
    """Return how a send ends in both answers, the first whose result differs, else the first that ends otherwise; empty if none does."""
    one, other = (
        {line.place: line.content for line in map(answer_line, lines) if line.kind == "send"} for lines in (left, right)
    )
    pairs = [(one[place], other[place]) for place in one if place in other]
    changed = [pair for pair in pairs if _end_words(pair[0]) != _end_words(pair[1])]
    worst = next((pair for pair in changed if pair[0].get("result") != pair[1].get("result")), None)
    shown = worst or next(iter(changed), None)
    return "" if shown is None else " → ".join(map(_end_words, shown))


def _end_words(send: Mapping[str, object]) -> str:
    if send.get("result") == "ok":
        end = f"{send.get('status')} from {send.get('broker')}"
    else:
        end = f"{send.get('exception')}{f' {code}' if (code := send.get('code')) is not None else ''}"
    tried = send.get("attempts")
    attempts = f", attempts {len(tried)}" if isinstance(tried, list) else ""
    elapsed_ms = send.get("elapsed_ms")
    return f"{end} after {elapsed_ms:,} ms{attempts}" if isinstance(elapsed_ms, int) else f"no end{attempts}"


def _heard(lines: Iterator[AnswerLine]) -> _Heard:
    found = _Heard()
    for line in lines:
        if line.kind == "consumer":
            found.started.append(line.content)
        if line.kind == "poll":
            _hear_poll(found, line.content)
        if line.kind == "rounds":
            for moment in line.content:
                for request in moment["asked"]:
                    _hear(found, moment["at_ms"], request.split(" "))
    return found


def _hear_poll(found: _Heard, content: Mapping[str, Any]) -> None:
    for message in content.get("got", ()):
        found.delivered.setdefault(message, []).append(content["at_ms"])
        queue, offset = message.split(" ")
        found.order.setdefault(queue, []).append(offset)


def _hear(found: _Heard, at_ms: int, words: Sequence[str]) -> None:
    kind, *rest = words
    if kind == "hook":
        found.hooked.setdefault(" ".join(rest), []).append(at_ms)
        return
    if kind == "deliver":
        queue, offset = rest[:2]
        found.delivered.setdefault(f"{queue} {offset}", []).append(at_ms)
        found.order.setdefault(queue, []).append(offset)
        if "transaction" in rest:
            found.transactions.add(f"{queue} {offset}")
        return
    found.asked[kind] = found.asked.get(kind, 0) + 1
    if kind in ("pull", "lite-pull"):
        found.pulled.setdefault(rest[0], []).append(at_ms)
    if kind == "back":
        found.back.setdefault(f"{rest[0]} {rest[1]}", []).append(rest[-1])
    if kind == "send":
        found.sent.append(_sent_with(" ".join(rest)))
    if "commit" in words:
        found.committed.setdefault(rest[0], {}).setdefault(int(rest[-1]), at_ms)


def _starts(one: _Heard, other: _Heard) -> Iterator[str]:
    for before, after in zip(one.started, other.started, strict=False):
        if before != after:
            yield f"the start {_start_words(after)}, and {_start_words(before)} before"


def _start_words(content: object) -> str:
    exception = content.get("exception") if isinstance(content, dict) else None
    return f"fails with {exception}" if exception else "succeeds"


def _deliveries(one: _Heard, other: _Heard) -> Iterator[str]:
    for message in dict.fromkeys((*one.delivered, *other.delivered)):
        before, after = (len(heard.delivered.get(message, ())) for heard in (one, other))
        if before != after:
            yield f"message {message} is delivered {_times(after)} instead of {_times(before)}"


def _times(number: int) -> str:
    return ("never", "once", "twice")[number] if number < 3 else f"{number} times"


def _orders(one: _Heard, other: _Heard) -> Iterator[str]:
    for queue in one.order:
        if one.order[queue] != other.order.get(queue):
            yield f"the messages of {queue} are delivered in another order"


def _backs(one: _Heard, other: _Heard) -> Iterator[str]:
    for message in dict.fromkeys((*one.back, *other.back)):
        before, after = (heard.back.get(message, []) for heard in (one, other))
        if len(before) != len(after):
            yield f"message {message} is sent back {_times(len(after))} instead of {_times(len(before))}"
        elif before != after:
            yield f"message {message} is sent back with level {', '.join(after)} instead of {', '.join(before)}"


def _transactions(one: _Heard, other: _Heard) -> Iterator[str]:
    for message in sorted(one.transactions ^ other.transactions):
        before, after = ("with" if message in heard.transactions else "without" for heard in (one, other))
        yield f"message {message} comes {after} the id of its transaction, and {before} it before"


_SENT = re.compile(r"\S+ times (\d+) of (\S+)(?: level (\d+))?( with its id)?( prepared)?")


def _sent_with(text: str) -> tuple[str, ...]:
    times, most, level, has_id, is_prepared = _found(_SENT, text)
    return (
        f"with reconsume times {times} of {most}",
        f"with level {level}",
        f"with{'' if has_id else 'out'} its first id",
        "as half of a transaction, which nobody consumes" if is_prepared else "as an ordinary message",
    )


def _found(pattern: re.Pattern[str], text: str) -> tuple[str | None, ...]:
    match = pattern.fullmatch(text)
    assert match is not None, text
    return match.groups()


def _sends(one: _Heard, other: _Heard) -> Iterator[str]:
    if len(one.sent) != len(other.sent):
        yield f"{len(other.sent)} failed messages are sent to the retry topic instead of {len(one.sent)}"
    for before, after in zip(one.sent, other.sent, strict=False):
        for was, now in zip(before, after, strict=True):
            if was != now:
                yield f"a failed message is sent to the retry topic {now}, and {was} before"


def _commits(one: _Heard, other: _Heard) -> Iterator[str]:
    """The greatest offsets, and the one that comes earliest before its time: it may pass messages that are not finished."""
    for queue in dict.fromkeys((*one.committed, *other.committed)):
        before, after = (heard.committed.get(queue, {}) for heard in (one, other))
        if max(before, default=None) != max(after, default=None):
            yield f"{queue} is committed up to {max(after, default='none')} instead of {max(before, default='none')}"
        sooner = [(_reached(before, offset) - at_ms, offset) for offset, at_ms in after.items()]
        by_ms, offset = max(sooner, default=(0, 0))
        if by_ms > _sooner(one, other, queue):
            yield f"offset {offset} of {queue} is committed {_moved(-by_ms)}"


def _sooner(one: _Heard, other: _Heard, queue: str) -> int:
    """By how many ms the other pulls or delivers the queue sooner, at most; its commits may be as much sooner."""
    pairs = [(one.pulled.get(queue, ()), other.pulled.get(queue, ()))]
    pairs += [(times, other.delivered.get(each, ())) for each, times in one.delivered.items() if each.startswith(queue)]
    return max((0, *(before - after for left, right in pairs for before, after in zip(left, right, strict=False))))


def _reached(committed: Mapping[int, int], offset: int) -> int:
    """The time from which on no smaller offset is committed, at the latest now: 0 if it never is."""
    return min((at_ms for each, at_ms in committed.items() if each >= offset), default=0)


def _delays(one: _Heard, other: _Heard) -> Iterator[str]:
    """The message that is moved most; its deliveries are as many in both."""
    moved = [
        (after - before, message)
        for message, times in one.delivered.items()
        for before, after in zip(times, other.delivered.get(message, ()), strict=False)
        if after != before
    ]
    if moved:
        by_ms, message = max(moved, key=lambda each: abs(each[0]))
        yield f"message {message} is delivered {_moved(by_ms)}"


def _moved(by_ms: int) -> str:
    return f"{abs(by_ms):,} ms {'later' if by_ms > 0 else 'sooner'}"


def _queues(one: _Heard, other: _Heard) -> Iterator[str]:
    for queue in dict.fromkeys((*one.pulled, *other.pulled)):
        before, after = (heard.pulled.get(queue, [None])[0] for heard in (one, other))
        if before is None or after is None:
            yield f"{queue} is {'pulled' if before is None else 'never pulled'}"
        elif before != after:
            yield f"{queue} is pulled {_moved(after - before)}"
        elif one.pulled[queue][-1] != other.pulled[queue][-1]:
            yield f"{queue} is pulled until {other.pulled[queue][-1]:,} ms instead of {one.pulled[queue][-1]:,} ms"


_REQUESTS = {
    "back": "messages back",
    "commit": "commits",
    "heartbeat": "heartbeats",
    "ids": "requests for the ids of the members",
    "lock": "requests for locks",
    "max": "requests for the end of a queue",
    "pull": "pulls",
    "query": "requests for an offset",
    "unlock": "requests to unlock",
    "unregister": "requests to unregister",
}
"""What a member asks brokers for, by the first word of a line of its rounds."""


def _hooks(one: _Heard, other: _Heard) -> Iterator[str]:
    for message in dict.fromkeys((*one.hooked, *other.hooked)):
        before, after = (heard.hooked.get(message, []) for heard in (one, other))
        if len(before) != len(after):
            yield f"a hook sees message {message} {_times(len(after))} instead of {_times(len(before))}"
        elif before != after:
            yield f"a hook sees message {message} {_moved(after[0] - before[0])}"


def _requests(one: _Heard, other: _Heard) -> Iterator[str]:
    for kind in dict.fromkeys((*one.asked, *other.asked)):
        before, after = (heard.asked.get(kind, 0) for heard in (one, other))
        if before != after:
            yield f"brokers get {after} {_REQUESTS.get(kind, kind)} instead of {before}; messages come as before"


_QUESTIONS: Sequence[tuple[Outcome, Callable[[_Heard, _Heard], Iterator[str]]]] = (
    (Outcome.START, _starts),
    (Outcome.MESSAGES, _deliveries),
    (Outcome.MESSAGES, _orders),
    (Outcome.MESSAGES, _backs),
    (Outcome.MESSAGES, _sends),
    (Outcome.MESSAGES, _transactions),
    (Outcome.MESSAGES, _commits),
    (Outcome.WAITING, _delays),
    (Outcome.WAITING, _hooks),
    (Outcome.QUEUES, _queues),
    (Outcome.REQUESTS, _requests),
)
"""In this order; each yields its differences in words."""
