"""Where the checks of one case write down what they see; counts are added up here, so that few rows leave the pass."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict

import msgspec

from rocketdiff.analysis.facts import CaseFact, Difference, Fact, Tally
from rocketdiff.analysis.send_view import SendView
from rocketdiff.analysis.steps.aligned import AlignedSend
from rocketdiff.core.plots import LaneAttempt

NS_PER_MS = 1_000_000


class Notebook:
    """Facts of one case, in the order they are first seen; ``origin_ns`` is when its first send was due."""

    def __init__(self, run: str, number: int, origin_ns: int) -> None:
        self.origin_ns = origin_ns
        self._run = run
        self._number = number
        self._facts: list[Fact] = []
        self._tallies: defaultdict[tuple[str, str, str, str], list[float]] = defaultdict(lambda: [0, 0.0])

    def note(self, fact: Fact) -> None:
        """Keep one fact as it is."""
        self._facts.append(fact)

    def count(self, check: str, arm: str, phase: str, key: str, *, n: int = 1, total: float = 0.0) -> None:
        """Add to a tally."""
        tally = self._tallies[check, arm, phase, key]
        tally[0] += n
        tally[1] += total

    def differ(
        self,
        check: str,
        signature: str,
        send: AlignedSend,
        side: SendView,
        *,
        expected: str,
        observed: str,
        attempt: int | None = None,
        rules: Mapping[str, object] | None = None,
    ) -> None:
        """Note a difference of one side of a send, with what both arms did at it."""
        decisions = [bar for arm in send.sides for bar in self._bars(arm)]
        detail = {
            "run": self._run,
            "decisions": [asdict(bar) for bar in decisions],
            "sends": {"baseline": _call(send.baseline), "candidate": _call(send.candidate)},
            "stored": {"baseline": _copies(send.baseline), "candidate": _copies(send.candidate)},
            "rules": dict(rules or {}),
        }
        self.note(
            Difference(
                check=check,
                signature=signature,
                arm=str(side.arm),
                thread=send.thread,
                send=send.send,
                attempt=attempt,
                phase=str(side.phase_of(attempt)),
                at_ns=side.began_ns,
                weight=len(decisions),
                expected=expected,
                observed=observed,
                detail=msgspec.json.encode(detail, enc_hook=str).decode(),
            )
        )

    def facts(self) -> Iterator[CaseFact]:
        """Everything noted; the tallies last."""
        for fact in self._facts:
            yield CaseFact(self._run, self._number, fact)
        for (check, arm, phase, key), (n, total) in self._tallies.items():
            yield CaseFact(self._run, self._number, Tally(check, arm, phase, key, int(n), total))

    def differences(self) -> tuple[Difference, ...]:
        """Every difference noted so far."""
        return tuple(fact for fact in self._facts if isinstance(fact, Difference))

    def _bars(self, side: SendView) -> Iterator[LaneAttempt]:
        for attempt in side.attempts:
            yield LaneAttempt(
                arm=str(side.arm),
                thread=side.thread,
                send=side.send,
                attempt=attempt.attempt,
                broker=attempt.broker,
                queue_id=attempt.queue_id,
                start_ms=(attempt.start_ns - self.origin_ns) / NS_PER_MS,
                end_ms=(attempt.end_ns - self.origin_ns) / NS_PER_MS,
                outcome=str(attempt.outcome),
                reason=str(attempt.reason),
            )


def _call(side: SendView | None) -> dict[str, object] | None:
    if side is None or side.row is None:
        return None
    row = side.row
    shown = ("outcome", "reason", "error", "cause", "code", "status", "broker", "queue_id", "queue_offset")
    return {name: getattr(row, name) for name in shown} | {"elapsed_ms": (row.end_ns - row.start_ns) / NS_PER_MS}


def _copies(side: SendView | None) -> list[tuple[str, int, int]]:
    if side is None or side.copies is None:
        return []
    return [(copy.broker, copy.queue_id, copy.queue_offset) for copy in side.copies]
