"""Figures of reports from trials of defective clients."""

from rocketdiff.verdict.calibration import Rate
from rocketdiff.verdict.defects_found import DefectTrial, SuiteFound


def test_a_defect_counts_as_found_with_every_seed_only() -> None:
    """A defect counts as found only with every seed: two of three defects, five of six trials."""
    trials = [DefectTrial("quick", name, seed, (name, seed) != ("b", 2)) for name in "abc" for seed in (1, 2)]
    found = SuiteFound.of("quick", 6, 5, trials)
    assert (found.suite, found.scenarios, found.played, found.missed) == ("quick", 6, 5, ("b",))
    assert (found.defects, found.trials) == (Rate.of(2, 3), Rate.of(5, 6))


def test_a_defect_found_in_one_send_is_found_by_luck() -> None:
    """A defect that changed fewer than three sends does not count as found."""
    trials = [DefectTrial("quick", name, 1, found=True, occasions=n) for name, n in (("a", 2), ("b", 3))]
    trials.append(DefectTrial("quick", "c", 1, found=False, occasions=1))
    found = SuiteFound.of("quick", 6, 5, trials)
    assert (found.defects, found.trials, found.missed) == (Rate.of(1, 3), Rate.of(1, 3), ("a (by luck)", "c"))


def test_a_suite_without_an_opportunity_has_no_rate() -> None:
    """A suite without trials has rates of 0 in 0."""
    found = SuiteFound.of("wire", 3, 0, [])
    assert (found.defects.n, found.trials.n, found.missed) == (0, 0, ())
