"""Facts are summed: literal rows in, literal rows out."""

from rocketdiff.analysis.facts import CaseFact, DifferenceFact, Fact, LaneBar, OutageValue, Tally, Trouble
from rocketdiff.analysis.summaries import summarise, summed
from rocketdiff.core.tables.fault import FaultKind, FaultRecord

LOST = "loss.acknowledged-not-stored"


def difference(
    send: int, *, weight: int, at_ns: int, attempt: int | None = None, arm: str = "candidate"
) -> DifferenceFact:
    return DifferenceFact("loss", LOST, arm, 0, send, attempt, "calm", at_ns, weight, "a", "b")


def rows(*facts: Fact) -> list[CaseFact]:
    return [CaseFact("r", 1, fact) for fact in facts]


def test_each_kind_of_fact_keeps_its_row() -> None:
    """A single fact of each kind comes back as it was; equal single facts stay apart."""
    value = OutageValue("timing", "blocked-send-duration", "baseline", 1, 5.5, 2, "failover")
    loose = rows(
        value,
        value,
        LaneBar("baseline", 0, 1, 0, "broker-a", 2, 7, 8, "ok", "none", 0),
        FaultRecord(1, FaultKind.PAUSE, "broker-b", 7, 8, None),
        Trouble("a table", "none", "run it again"),
    )
    once = rows(difference(3, weight=2, at_ns=7), Tally("sends", "baseline", "calm", "ok", 5, 0.0))
    assert list(summed([*once, *loose])) == [*loose, *once]


def test_a_cluster_shows_the_difference_that_is_easiest_to_follow() -> None:
    """A cluster shows the difference with the fewest attempts, then the earliest, then without an attempt."""
    easiest = difference(3, weight=2, at_ns=20, attempt=None)
    other = difference(4, weight=9, at_ns=5, arm="baseline")
    found = summed(
        rows(
            difference(1, weight=4, at_ns=10),
            difference(2, weight=2, at_ns=30),
            difference(3, weight=2, at_ns=20, attempt=0),
            easiest,
            other,
        )
    )
    assert list(found) == [CaseFact("r", 1, easiest, 4), CaseFact("r", 1, other, 1)]


def test_tallies_of_one_key_are_added_and_others_kept_apart() -> None:
    """Tallies of one key are added."""
    found = summed(
        rows(
            Tally("elapsed", "baseline", "calm", "700", 5, 0.5),
            Tally("elapsed", "baseline", "after", "700", 1, 0.0),
            Tally("elapsed", "baseline", "calm", "700", 2, 0.25),
            Tally("elapsed", "candidate", "calm", "700", 1, 0.0),
        )
    )
    assert [row.fact for row in found] == [
        Tally("elapsed", "baseline", "calm", "700", 7, 0.75),
        Tally("elapsed", "baseline", "after", "700", 1, 0.0),
        Tally("elapsed", "candidate", "calm", "700", 1, 0.0),
    ]


def test_a_sum_of_sums_is_the_sum() -> None:
    """A case whose parts were summed by two tasks has the sums of one."""
    one = rows(difference(1, weight=4, at_ns=10), Tally("elapsed", "baseline", "calm", "700", 5, 0.5))
    other = rows(difference(2, weight=2, at_ns=30), Tally("elapsed", "baseline", "calm", "700", 2, 0.25))
    assert summarise([*summed(one), *summed(other)]) == summarise([*one, *other])
    assert summarise([*one, *other]).clusters[0].count == 2
