"""
Which rules a case is judged by: those of the baseline's release, for both arms.

A candidate of another kind (C++, Go) is held against the same rules: what it does otherwise is what a user notices.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.analysis.case_trace import CaseTrace
from harness.core.errors import UsageError
from harness.core.events import Arm
from harness.core.subject import SubjectId
from harness.oracle.judgement import Judgement
from harness.oracle.replay import Replay, replay_for
from harness.oracle.trace import SendTrace
from harness.traces.schema import TableName

RULED_CLIENTS = ("java", "python")
"""Kinds of client whose release names a dialect; ``python`` is our reference, speaking that of the named release."""


@dataclass(frozen=True, slots=True)
class ArmRules:
    """
    The rules for one arm.

    shared: its threads share a fault table, so their sends must be judged together; otherwise one thread after another.
    """

    trace: CaseTrace
    arm: Arm
    release: str
    shared: bool

    def fresh(self) -> Replay:
        """A replay that has seen nothing yet."""
        attempts = self.trace.tables.get((TableName.ATTEMPTS, self.arm))
        witnessed = attempts is not None and attempts.num_rows > 0
        settings, routes = self.trace.entry.settings, self.trace.routes(self.arm)
        return replay_for(self.release, settings, routes, witnessed=witnessed)

    def judge_together(self, sends: Iterable[SendTrace]) -> Iterator[Judgement]:
        """Judgements of all sends of the arm, in order of their start."""
        return self.fresh().judge_all(sends)


@dataclass(frozen=True, slots=True)
class Rulebook:
    """Rules for both arms of a case; missing: why there are none, empty when there are."""

    rules: dict[Arm, ArmRules]
    missing: str = ""


def rulebook_for(trace: CaseTrace) -> Rulebook:
    """The rules of the baseline's release, or the reason why nobody knows them."""
    baseline = SubjectId.parse(trace.subjects[Arm.BASELINE])
    if baseline.client not in RULED_CLIENTS:
        return Rulebook(
            {}, f"no rules are known for the baseline {baseline}: name a Java client or the reference first"
        )
    settings = trace.entry.settings
    shared = trace.entry.threads > 1 and settings.send_latency_fault_enable
    rules = {arm: ArmRules(trace, arm, baseline.release, shared) for arm in Arm}
    try:
        rules[Arm.BASELINE].fresh()
    except UsageError as error:
        return Rulebook({}, str(error))
    return Rulebook(rules)
