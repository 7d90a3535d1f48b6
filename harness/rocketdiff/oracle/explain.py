"""
Why a client chose as it did: the chain of rules behind one send, from the index to the end of the call.

The story is told by the rules themselves while the oracle replays the trace up to that send; where nothing explains what
was seen, it is the story of what the rules would have done.
"""

from collections.abc import Iterable

from rocketdiff.core.errors import UsageError
from rocketdiff.core.records import Send
from rocketdiff.core.settings import ClientSettings
from rocketdiff.oracle.interval import NANOSECONDS
from rocketdiff.oracle.judgement import Judgement
from rocketdiff.oracle.observation import Observation
from rocketdiff.oracle.replay import replay_for
from rocketdiff.oracle.sentences import end_text
from rocketdiff.oracle.stepper import Routes
from rocketdiff.oracle.story import story_lines


def explain(
    release: str,
    settings: ClientSettings,
    routes: Routes,
    sends: Iterable[Send],
    *,
    send: int,
    thread: int = 0,
    causes_told: bool = True,
) -> list[str]:
    """
    Lines for a terminal about one send, given all sends of its arm (later ones are not needed).

    Raises UsageError for a send that is not there.
    """
    replay = replay_for(release, settings, routes, causes_told=causes_told)
    observations = [
        Observation(replay.stepper, trace, narrated=(trace.send, trace.thread) == (send, thread)) for trace in sends
    ]
    wanted = next((one for one in observations if one.narrated), None)
    if wanted is None:
        raise UsageError(
            "a send of this arm", seen=f"send {send} of thread {thread}", hint=f"it has {len(observations)} sends"
        )
    before = [one for one in observations if one.send.start_ns <= wanted.send.end_ns]
    judgements = replay.judge_observed(before)
    judgement = next(one for one in judgements if (one.send, one.thread) == (send, thread))
    versions = replay.stepper.versions_of(wanted.send)
    queues = len(routes[versions[0]]) if versions else 0
    took_ms = (wanted.send.end_ns - wanted.send.start_ns) / NANOSECONDS
    return [
        f"send {send} of thread {thread} ({wanted.send.kind.value}), {took_ms:,.1f} ms, by the rules of release {release}",
        *(f"  {line}" for line in story_lines(wanted.story, wanted.send, queues)),
        f"  seen: {end_text(wanted.send)}",
        *(f"  {line}" for line in _verdict_lines(judgement)),
    ]


def _verdict_lines(judgement: Judgement) -> list[str]:
    plural = "" if judgement.states == 1 else "s"
    lines = [f"{judgement.states} hidden state{plural} left"]
    if judgement.undecided is not None:
        lines.append(f"undecided: {judgement.undecided}")
    if judgement.difference is not None:
        lines.append(f"DIFFERS {judgement.difference.signature}")
        lines.append(f"  expected: {judgement.difference.expected}")
        lines.append(f"  observed: {judgement.difference.observed}")
    return lines
