"""One judgement of all evidence."""

from dataclasses import replace

import pytest

from rocketdiff.core.answers.evidence import PairedCounts, Standing
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import Divergence, Example, Severity, Verdict
from rocketdiff.core.answers.where import Place, at
from rocketdiff.core.errors import ExitCode
from rocketdiff.ledger.model import Conditions, Ledger, Party
from rocketdiff.verdict.judge import Counts, RunVerdict, judge, machine_line
from tests.ledger.ledger_entries import entry
from tests.verdict.builders import COMPLETE, RUN, decided


def test_a_complete_run_without_differences_conforms() -> None:
    """A complete run without divergences exits with 0 and this machine line."""
    judgement = judge(COMPLETE, RUN)
    assert judgement.exit_code is ExitCode.CONFORMS
    line = "VERDICT conforms new=0 declared=0 stale=0 inconclusive=0 answered=3/3 checks=3 seed=7 run=r1"
    assert judgement.machine_line == line


def test_a_new_divergence_is_exit_1() -> None:
    """A check with 31 divergences counts as one new divergence, with exit 1."""
    found = Divergence("x/y", "python:5.3.3", 31, Example(at(Place.SEND, 1, 0, 0), "calm", "a", "b"))
    judgement = judge([decided("a", "loss", found), *COMPLETE[1:]], RUN)
    assert (judgement.exit_code, judgement.counts.new) == (ExitCode.DIVERGES, 1)


def test_a_planned_check_without_an_answer_makes_the_run_invalid() -> None:
    """A planned check without an answer makes the run INVALID and does not count as executed."""
    judgement = judge(COMPLETE[:2], RUN)
    assert (judgement.verdict, judgement.exit_code) == (RunVerdict.INVALID, ExitCode.INCONCLUSIVE)
    assert judgement.counts == Counts(inconclusive=1, checks=2, planned=3, unanswered=1, answered=2, gating=3)
    missing = judgement.results[-1]
    assert (missing.case, missing.check, missing.verdict) == ("b", "loss", Verdict.INVALID)


def test_a_run_without_evidence_is_invalid() -> None:
    """A run without evidence, killed before its first case, is INVALID."""
    judgement = judge([], RUN)
    assert (judgement.verdict, judgement.counts.checks) == (RunVerdict.INVALID, 0)


def test_a_case_run_twice_must_be_answered_twice() -> None:
    """In several runs judged together each planned case needs its own answer."""
    twice = replace(RUN, cases=(*RUN.cases, RUN.cases[1]))
    assert judge(COMPLETE, twice).verdict is RunVerdict.INVALID
    assert judge([*COMPLETE, COMPLETE[2]], twice).verdict is RunVerdict.CONFORMS


def test_pooled_checks_are_part_of_the_plan() -> None:
    """Pooled checks are part of the plan, and unplanned answers are accepted."""
    planned = replace(RUN, pooled_checks=(("pooled/pause", "timing"),))
    pooled = decided("pooled/pause", "timing")
    assert judge(COMPLETE, planned).verdict is RunVerdict.INVALID
    assert judge([*COMPLETE, pooled], planned).verdict is RunVerdict.CONFORMS
    assert judge([*COMPLETE, pooled], RUN).verdict is RunVerdict.CONFORMS


@pytest.mark.parametrize(("seed", "run", "end"), [(None, "", "seed=- run=-"), (3, "my run", "seed=3 run=my_run")])
def test_the_machine_line_has_no_blank_in_its_values(seed: int | None, run: str, end: str) -> None:
    """Values in the machine line have no blanks, because programs split it there."""
    line = machine_line(RunVerdict.ERROR, Counts(), seed=seed, run=run)
    assert line == f"VERDICT error new=0 declared=0 stale=0 inconclusive=0 answered=0/0 checks=0 {end}"


def test_a_declared_divergence_conforms() -> None:
    """With a ledger a declared divergence exits with 0, and the line counts it."""
    found = Divergence("x/y", "python:5.3.3", 31, Example(at(Place.SEND, 1, 0, 0), "calm", "a", "b"))
    known = entry(when=Conditions(Party("python")), check="a/loss", signatures=("x/y",))
    judgement = judge([decided("a", "loss", found), *COMPLETE[1:]], RUN, ledger=Ledger((known,)))
    assert judgement.machine_line.startswith(
        "VERDICT conforms new=0 declared=1 stale=0 inconclusive=0 answered=3/3 checks=3 "
    )
    assert [outcome.id for outcome in judgement.ledger] == ["K16"]


def test_a_stale_entry_alone_is_exit_3_and_a_missing_check_dominates_it() -> None:
    """A stale entry alone exits with 3, but a missing check exits with 2."""
    gone = Ledger((entry(when=Conditions(Party("python")), check="a/loss"),))
    judgement = judge(COMPLETE, RUN, ledger=gone)
    assert (judgement.exit_code, judgement.counts.stale) == (ExitCode.STALE_LEDGER, 1)
    assert judge(COMPLETE[:2], RUN, ledger=gone).exit_code is ExitCode.INCONCLUSIVE


def test_the_ledger_does_not_excuse_an_invalid_set_up() -> None:
    """A ledger entry does not excuse an INVALID check."""
    found = Divergence("x/y", "python:5.3.3", 1, Example(at(Place.SEND, 1, 0, 0), "calm", "a", "b"))
    broken = replace(decided("a", "loss", found), standing=Standing.INVALID)
    known = Ledger((entry(when=Conditions(Party("python")), check="**", signatures=("x/y",)),))
    judgement = judge([broken, *COMPLETE[1:]], RUN, ledger=known)
    assert (judgement.verdict, judgement.exit_code) == (RunVerdict.INVALID, ExitCode.INCONCLUSIVE)


def test_counts_that_differ_fail_a_run() -> None:
    """Counts of twenty to none fail a run in a check without other divergences."""
    differing = replace(COMPLETE[0], counts=(PairedCounts("failed/calm", "half seconds", 0, 20),))
    assert judge([differing, *COMPLETE[1:]], RUN).exit_code is ExitCode.DIVERGES
    assert judge(COMPLETE, RUN).exit_code is ExitCode.CONFORMS


def test_a_judgement_follows_its_policy() -> None:
    """Under a strict policy an inconclusive SHOULD check fails the run."""
    open_one = replace(COMPLETE[0], standing=Standing.INDECISIVE, severity=Severity.SHOULD)
    strict = judge([open_one, *COMPLETE[1:]], RUN, Policy(strict=True))
    relaxed = judge([open_one, *COMPLETE[1:]], RUN)
    assert (strict.policy.strict, int(strict.exit_code)) == (True, 2)
    assert (relaxed.policy, int(relaxed.exit_code)) == (Policy(), 0)
