"""Details of a verdict: examples, gating counts, and how many episodes would decide."""

from dataclasses import replace

import pytest

from rocketdiff.core.answers.evidence import Ending, EpisodePair, Margin, PairedCounts, PairedSample, Standing
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import Severity
from rocketdiff.core.errors import ExitCode
from rocketdiff.ledger.apply import examine
from rocketdiff.statistics.significance import pairs_needed
from rocketdiff.verdict.counts import p_of, with_counts_told
from rocketdiff.verdict.decide_samples import decide_samples
from rocketdiff.verdict.judge import judge
from tests.ledger.ledger_entries import ENTRY, ONE, divergence, entry, result
from tests.ledger.ledger_entries import RUN as LEDGER_RUN
from tests.verdict.test_answer import answered, evidence, sample
from tests.verdict.test_counts import NEW, OLD, shares
from tests.verdict.test_counts import evidence as counted
from tests.verdict.test_judge import COMPLETE, RUN


def of_pairs(*pairs: EpisodePair) -> PairedSample:
    return PairedSample("failover", Margin(1.2, "a fifth of a timeout"), pairs, 6, "no interval below")


def test_the_farthest_spell_is_one_that_both_lived_through() -> None:
    """The farthest episode is one that both arms met, with all its figures."""
    met = sample(3.0).pairs
    lone = EpisodePair("r", "c", 99, 5e8, None)
    (found,) = answered(evidence(Standing.DECISIVE, samples=(of_pairs(lone, *met),))).divergences
    assert found.example.figures["farthest_episode"] == {
        "case": "c",
        "episode": 2,
        "baseline_ns": 5e8,
        "candidate_ns": pytest.approx(5e8 * 3.0 * 1.02),
        "baseline_ended": "failover",
        "candidate_ended": "failover",
    }


def test_causes_are_counted_in_both_directions() -> None:
    """Causes are counted in both directions: 17 episodes to one are 18."""
    only_baseline = [EpisodePair("r", "c", n, 5e8, 5e8, Ending.FAILOVER, Ending.RESUMED) for n in range(17)]
    only_candidate = EpisodePair("r", "c", 17, 5e8, 5e8, Ending.RESUMED, Ending.FAILOVER)
    item = evidence(Standing.DECISIVE, samples=(of_pairs(*only_baseline, only_candidate),))
    (found,) = answered(item).divergences
    assert (found.signature, found.count) == ("failover-time.failover-cause-differs", 18)
    assert found.example.observed == "only java:4.7.1 failed over in 17 spells, only java:5.3.3 in 1"
    assert found.example.figures["p_mcnemar"] == pytest.approx(2 * (1 + 18) / 2**18)
    one = found.example.figures["one_episode"]
    assert isinstance(one, dict)
    assert (one["episode"], one["baseline_ended"], one["candidate_ended"]) == (0, "failover", "resumed")


def test_shares_are_told_to_the_last_word() -> None:
    """The example of shares states both shares and the p-value in two digits."""
    count = shares((112, 110), (0, 110))
    (item,) = with_counts_told([counted(count)], baseline=OLD, candidate=NEW)
    said = f"110 of 110 of {NEW}, 0 of 112 of {OLD} failed (p = {p_of(count):.2g})"
    assert item.divergences[0].example.observed == said


def test_counts_that_differ_fail_a_run() -> None:
    """Counts of twenty to none fail a run in a check without other divergences."""
    differing = replace(COMPLETE[0], counts=(PairedCounts("failed/calm", "half seconds", 0, 20),))
    assert judge([differing, *COMPLETE[1:]], RUN).exit_code is ExitCode.DIVERGES
    assert judge([replace(differing, counts=()), *COMPLETE[1:]], RUN).exit_code is ExitCode.CONFORMS


@pytest.mark.parametrize(
    ("severity", "strict", "gates"),
    [
        (Severity.MUST, False, True),
        (Severity.SHOULD, False, False),
        (Severity.SHOULD, True, True),
        (Severity.INFO, True, False),
    ],
)
def test_the_absence_of_what_an_entry_declares_gates_by_its_severity(
    severity: Severity, strict: bool, gates: bool
) -> None:
    """A stale entry gates by its severity, like any answer."""
    policy = Policy(strict=strict)
    examined = examine(entry(severity=severity), [result(ONE, divergence())], LEDGER_RUN, policy, ENTRY.added)
    assert examined is not None
    assert examined.gates is gates


@pytest.mark.parametrize(
    ("ratio", "spread", "alpha", "word"), [(1.21, 0.02, 0.01 / 2, "different"), (1.0, 0.25, 0.05, "equivalent")]
)
def test_an_open_question_says_how_many_spells_would_close_it(
    ratio: float, spread: float, alpha: float, word: str
) -> None:
    """An inconclusive sample states how many episodes would decide; differences share the causes' budget."""
    pairs = tuple(EpisodePair("r", "c", n, 5e8, 5e8 * ratio * (1 + spread * (n % 3 - 1))) for n in range(6))
    ((said,),) = decide_samples([evidence(Standing.DECISIVE, samples=(of_pairs(*pairs),))])
    assert said.ratio is not None
    needed = pairs_needed(said.ratio.log_sd, 1.2, alpha, ratio=said.ratio.ratio)
    assert needed > 6
    assert said.reason.endswith(f"over 6 spells; about {needed} would show the clients {word} at this ratio")
