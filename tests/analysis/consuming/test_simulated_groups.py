"""Faithful groups are accused of nothing, whatever the script, the machine and the moments drawn within the rules."""

from functools import partial
from math import inf

import pytest

from maintenance.faithful import groups
from maintenance.faithful.groups import one_trial
from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.analysis.registry import judge_case
from rocketdiff.core.errors import ExitCode
from tests.analysis.consuming.bank import TWO_MEMBERS, KeepsALostQueue
from tests.analysis.consuming.group_story import ns
from tests.analysis.consuming.simulated_group import (
    ROUND_MS,
    Fault,
    Life,
    Member,
    Queue,
    Script,
    SimulatedGroup,
    simulated,
)

DRAWN = 20
"""Stories a run of the tests; ``make faithful ARGS="--role consumer"`` draws thousands."""


def accusations(script: Script, candidate: type[SimulatedGroup] = SimulatedGroup) -> list[tuple[str, str, str]]:
    facts = (each.fact for each in judge_case(simulated(script, candidate).trace()))
    return [(fact.signature, fact.expected, fact.observed) for fact in facts if isinstance(fact, DifferenceFact)]


@pytest.mark.parametrize("seed", range(DRAWN))
def test_a_drawn_story_has_no_difference(seed: int) -> None:
    """Members join, leave and die, brokers are paused and killed, listeners fail and are slow, every other time in order."""
    one = one_trial(seed)
    assert one.alarm is None, one.alarm


def test_an_accusation_is_an_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    """A defective group in the place of the faithful one."""
    monkeypatch.setattr(groups, "simulated", partial(simulated, candidate=KeepsALostQueue))
    monkeypatch.setattr(groups, "drawn_script", lambda _: TWO_MEMBERS)
    assert "allocation.two-owners" in (one_trial(0).alarm or "")


class WaitsForACore(SimulatedGroup):
    """A machine that gives the process no core for two seconds, twice."""

    def wait_ms(self) -> float:
        return super().wait_ms() + max(
            0.0, *(at_ms + 2_000 - self.now for at_ms in (5_000, 12_000) if self.now > at_ms), 0.0
        )


class CommitsLate(SimulatedGroup):
    """Commits whose writes reach the broker a second later."""

    def write(self, of: Queue, value: int) -> None:
        self.after(950, lambda: SimulatedGroup.write(self, of, value))


class DiesWithUnwrittenRecords(SimulatedGroup):
    """A pull commits what a member has finished in its last moment, whose records die with its process."""

    def kill(self, member: Member) -> None:
        for work in member.owned.values():
            if work.remembered is not None:
                self.write(work.of, work.remembered)
        super().kill(member)
        last_ns = ns(self.now - 300)
        lost = {row["call"] for row in self.rows.calls if row["member"] == member.number and row["start_ns"] > last_ns}
        for rows in (self.rows.calls, self.rows.deliveries):
            rows[:] = [row for row in rows if row["member"] != member.number or row["call"] not in lost]
        self.rows.offsets[:] = [
            row for row in self.rows.offsets if row["member"] != member.number or row["at_ns"] <= last_ns
        ]


class IsListedForGood(SimulatedGroup):
    """A member that dies beside a paused broker stays in its list."""

    forgets = 0.0


class SleepsOn(SimulatedGroup):
    """The first member loses a wake-up at the end of a round after a change, and hears of nothing until its next round in turn."""

    from_ms: tuple[int, ...] = (11_000,)

    def __init__(self, script: Script, arm: int = 0) -> None:
        super().__init__(script, arm)
        self.due_ms, self.until_ms = list(self.from_ms), -inf

    def round(self, member: Member) -> None:
        if member.number:
            super().round(member)
        elif self.now >= self.until_ms:
            super().round(member)
            if self.due_ms and self.now > self.due_ms[0]:
                self.until_ms = self.now + ROUND_MS
                self.due_ms.pop(0)
                self.at(self.until_ms, partial(self.round, member))


class SleepsOnTwice(SleepsOn):
    """And once more."""

    from_ms = (11_000, 36_000)


CHANGES = Script(count=600, lives=(Life(0), Life(1, 11_000, 15_000), Life(2, 36_000, 40_000)))

HARD = {
    "a wake-up that Java loses": (CHANGES, SleepsOn),
    "a dead member that a paused broker goes on listing": (
        Script(
            count=600,
            lives=(Life(0), Life(1, -11_000), Life(2, -10_000, 12_500, is_killed=True)),
            faults=(Fault(0, 12_000, 2_500),),
        ),
        IsListedForGood,
    ),
    "a member that dies with unwritten records": (
        Script(count=300, lives=(Life(0), Life(1, -11_000, 12_000, is_killed=True)), work_ms=1, stall_ms=1),
        DiesWithUnwrittenRecords,
    ),
    "a leave while calls are under way": (Script(work_ms=4_000, drain_ms=100), SimulatedGroup),
    "a busy machine in one arm": (Script(), WaitsForACore),
    "a commit that is answered late": (Script(count=300, lives=(Life(0), Life(1, 9_000, 20_000))), CommitsLate),
    "calls across a pause": (
        Script(work_ms=4_000, faults=(Fault(1, 8_000, 3_000),), drain_ms=28_000),
        SimulatedGroup,
    ),
    "a killed broker that forgets five seconds": (
        Script(seed=4, count=300, faults=(Fault(0, 19_900, 2_000, is_kill=True),), drain_ms=28_000),
        SimulatedGroup,
    ),
    "a member that takes over after that": (
        Script(
            count=300,
            lives=(Life(0), Life(1, 23_000, 27_000)),
            faults=(Fault(1, 19_900, 2_000, is_kill=True),),
            drain_ms=28_000,
        ),
        SimulatedGroup,
    ),
    "both ways of a hand-back fail": (
        Script(faults=(Fault(0, 6_000, 4_000), Fault(1, 6_000, 4_000)), drain_ms=28_000),
        SimulatedGroup,
    ),
    "members that come and go at once": (
        Script(lives=(Life(0), Life(1, 9_000, 12_000), Life(2, 9_050, 12_050)), work_ms=1_500),
        SimulatedGroup,
    ),
}


@pytest.mark.parametrize(("script", "group"), HARD.values(), ids=HARD.keys())
def test_a_hard_story_conforms(script: Script, group: type[SimulatedGroup]) -> None:
    """What the rules allow at their limits is judged to conform, to the exit code."""
    ended = simulated(script, group).judge()
    assert [(cluster.signature, cluster.example.observed) for cluster in ended.document.clusters] == []
    assert ended.judgement.exit_code is ExitCode.CONFORMS


def test_a_second_lost_wake_up_is_no_accident() -> None:
    """Only one time is left open."""
    assert {signature for signature, _, _ in accusations(CHANGES, SleepsOnTwice)} >= {"allocation.late-round"}
