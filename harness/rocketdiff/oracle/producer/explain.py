"""
Explains the choices of one send: the rules applied, from the index to the end of the call.

The rules emit events while the oracle replays the trace up to that send. Without an explanation, the events are those
of what the rules would have done.
"""

from collections.abc import Iterable, Iterator, Sequence

from rocketdiff.core.errors import UsageError
from rocketdiff.core.records.sending import Send
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.producer.judgement import SendJudgement
from rocketdiff.oracle.producer.observation import Observation
from rocketdiff.oracle.producer.replay import replay_for
from rocketdiff.oracle.producer.sentences import duration_text, end_text, ms_text, queue_text
from rocketdiff.oracle.producer.states.transition import Routes
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.queue_choice.events import (
    BudgetChecked,
    Charged,
    Chosen,
    Event,
    Forgotten,
    IndexRead,
    IndexReset,
    Skip,
    Skipped,
    Swallowed,
    Tier,
)


def explain(
    release: str,
    settings: ClientSettings,
    routes: Routes,
    sends: Iterable[Send],
    *,
    send: int,
    thread: int = 0,
    causes_reported: bool = True,
) -> list[str]:
    """
    Return lines for a terminal about one send; later sends of its arm may be missing.

    Raises UsageError if the send does not exist.
    """
    replay = replay_for(release, settings, routes, causes_reported=causes_reported)
    observations = [
        Observation(replay.transitions, trace, narrated=(trace.send, trace.thread) == (send, thread)) for trace in sends
    ]
    wanted = next((observation for observation in observations if observation.narrated), None)
    if wanted is None:
        raise UsageError(
            "a send of this arm", seen=f"send {send} of thread {thread}", hint=f"it has {len(observations)} sends"
        )
    before = [observation for observation in observations if observation.send.start_ns <= wanted.send.end_ns]
    judgements = replay.judge_observed(before)
    judgement = next(judgement for judgement in judgements if (judgement.send, judgement.thread) == (send, thread))
    versions = replay.transitions.versions_of(wanted.send)
    queues = len(routes[versions[0]]) if versions else 0
    took_ms = (wanted.send.end_ns - wanted.send.start_ns) / NS_PER_MS
    return [
        f"send {send} of thread {thread} ({wanted.send.kind.value}), {took_ms:,.1f} ms, by the rules of release {release}",
        *(f"  {line}" for line in story_lines(wanted.story, wanted.send, queues)),
        f"  seen: {end_text(wanted.send)}",
        *(f"  {line}" for line in _verdict_lines(judgement)),
    ]


def _verdict_lines(judgement: SendJudgement) -> list[str]:
    plural = "" if judgement.states == 1 else "s"
    lines = [f"{judgement.states} hidden state{plural} left"]
    if judgement.undecided is not None:
        lines.append(f"undecided: {judgement.undecided}")
    if judgement.difference is not None:
        lines.append(f"DIFFERS {judgement.difference.signature}")
        lines.append(f"  expected: {judgement.difference.expected}")
        lines.append(f"  observed: {judgement.difference.observed}")
    return lines


_SKIPPED = {
    Skip.LAST_BROKER: "the previous attempt failed there",
    Skip.NOT_LAST_BROKER: "in this release a retry prefers the failed broker",
    Skip.AVOIDED: "the broker is avoided",
    Skip.UNREACHABLE: "the broker counts as unreachable",
}

_TAKEN = {
    Tier.ROTATION: "next in turn",
    Tier.OTHER_BROKER: "the first of another broker",
    Tier.AVAILABLE: "the first that is acceptable and whose broker is available",
    Tier.REACHABLE: "no broker is available; the first whose broker is reachable",
    Tier.BEST_KNOWN: "no queue is acceptable; the best known broker",
    Tier.ANY: "no other candidate; next in turn on any broker",
}


def story_lines(story: Sequence[Event], send: Send, queues: int) -> Iterator[str]:
    """
    Yield the rules' events, with the observation of each attempt in its place.

    queues: length of the publish list. Some releases advance the index for every queue examined; only the first reading
    is shown, which is where the selection began.
    """
    attempt = 0
    began = False
    skipped: list[Skipped] = []
    for event in story:
        if skipped and not (isinstance(event, IndexRead) or _is_alike(event, skipped[-1])):
            yield _skipped_text(skipped)
            skipped.clear()
        if isinstance(event, Skipped):
            skipped.append(event)
        elif not isinstance(event, IndexRead):
            yield _event_text(event)
        elif not began:
            yield _index_text(event, queues)
            began = True
        if isinstance(event, BudgetChecked):
            yield from attempt_lines(send, attempt, attempt + 1)
            attempt += 1
            began = False
    yield from attempt_lines(send, attempt, len(send.attempts))


def attempt_lines(send: Send, first: int, end: int) -> Iterator[str]:
    """Yield the observations of attempts first … end - 1."""
    for seen in send.attempts[first:end]:
        took_ms = (seen.end_ns - seen.start_ns) / NS_PER_MS
        code = f" ({seen.code})" if seen.code is not None else ""
        result = f"{seen.error}{code}" if seen.error else seen.status or "ok"
        yield f"seen: attempt {seen.attempt + 1} on {queue_text(Queue(seen.broker, seen.queue_id))}, {took_ms:,.1f} ms, {result}"


def _is_alike(event: Event, before: Skipped) -> bool:
    return isinstance(event, Skipped) and event.reason is before.reason and event.queue.broker == before.queue.broker


def _skipped_text(skipped: Sequence[Skipped]) -> str:
    first = skipped[0]
    numbers = ", ".join(str(event.queue.queue_id) for event in skipped)
    left = ""
    if first.reason is Skip.AVOIDED and first.remaining_ms is not None:
        left = f" for another {ms_text(first.remaining_ms)}"
    plural = "s" if len(skipped) > 1 else ""
    return f"skipped queue{plural} {numbers} of {first.queue.broker}: {_SKIPPED[first.reason]}{left}"


def _index_text(event: IndexRead, queues: int) -> str:
    if event.value is None or not queues:
        return "index not known: the next queue may be any"
    return f"index after position {event.value % queues} (of 0–{queues - 1})"


def _event_text(event: Event) -> str:
    match event:
        case Chosen():
            rewritten = ", written into the shared list" if event.mutated else ""
            text = f"took {queue_text(event.queue)}: {_TAKEN[event.tier]}{rewritten}"
        case Charged():
            text = _charged_text(event)
        case BudgetChecked():
            limit = "each attempt has its own timeout" if event.timeout_ms is None else f"of {event.timeout_ms:,} ms"
            text = f"spent so far: {ms_text(event.spent_ms)}, {limit}"
        case Forgotten():
            text = f"forgot {event.broker}: it has no write queues"
        case Swallowed():
            text = f"met a {event.exception}, which the client swallows"
        case IndexReset():
            text = "a retry restarts the index at random"
        case _:
            raise AssertionError(f"rendered elsewhere: {event}")
    return text


def _charged_text(event: Charged) -> str:
    why = "counts as failed" if event.isolated else "counts by its latency"
    reach = "" if event.reachable else ", unreachable"
    avoid = f"avoided for {duration_text(event.avoid_ms, event.avoid_ms)}" if event.avoid_ms else "not avoided"
    return f"noted {event.broker}: took {ms_text(event.latency_ms)}, {why}: {avoid}{reach}"
