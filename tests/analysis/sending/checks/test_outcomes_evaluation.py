"""Evidence of ``outcomes`` from manually built counts, from both sides of each limit."""

import pytest

from rocketdiff.analysis.sending.checks.results import outcomes_evaluation
from rocketdiff.analysis.sending.checks.results.slower_sends import IN_A_HUNDRED
from rocketdiff.core.answers.evidence import ComparedShares, PairedCounts, Standing
from rocketdiff.core.arm import Arm
from tests.analysis.sending.checks.builders import (
    CANDIDATE,
    DIVERGES,
    OPEN,
    PASSES,
    VOID,
    Ended,
    Tallies,
    end_of,
    sound_case,
)


def sends(calm: int = 100, **befell: tuple[int, int]) -> Tallies:
    """Sends of both arms in calm, and what happened to each arm's."""
    tallies: Tallies = {}
    for place, arm in enumerate(Arm):
        tallies["outcomes", arm, "calm", "sends"] = (calm, 0.0)
        for what, times in befell.items():
            tallies["outcomes", arm, "calm", what.replace("_", "-")] = (times[place], 0.0)
    return tallies


@pytest.mark.parametrize("what", ["failed", "stored_twice", "stored_with_a_reserve", "failed_at_first"])
@pytest.mark.parametrize(
    ("befell", "timeout_ms", "end"),
    [
        ((0, 25), 300, PASSES),
        ((0, 26), 300, DIVERGES),
        ((26, 0), 300, DIVERGES),
        ((1, 99), 300, PASSES),
        ((0, 26), 299, PASSES),
    ],
)
def test_more_than_a_quarter_of_one_arms_calm_sends_diverges(
    what: str, befell: tuple[int, int], timeout_ms: int, end: Ended
) -> None:
    """
    Over 25 of 100 sends affected in one arm only diverge.

    Below a timeout of 300 ms the machine decides that, so it is not compared.
    """
    assert end_of(outcomes_evaluation.evaluate(sound_case(sends(100, **{what: befell}), timeout_ms))) == end


@pytest.mark.parametrize(
    ("held_up", "moments", "end"),
    [
        ((0, 4), (0, 11), PASSES),
        ((0, 5), (0, 10), PASSES),
        ((0, 5), (0, 11), DIVERGES),
        ((4, 5), (0, 11), DIVERGES),
        ((5, 4), (0, 11), PASSES),
        ((99, 98), (0, 0), PASSES),
        ((100, 99), (0, 0), OPEN),
        ((110, 110), (0, 0), PASSES),
        ((120, 110), (0, 11), OPEN),
        ((90, 120), (30, 2), PASSES),
        ((110, 110), (12, 11), PASSES),
        ((0, 250), (0, 0), PASSES),
        ((0, 251), (0, 0), DIVERGES),
        ((251, 0), (0, 0), OPEN),
    ],
)
def test_sends_that_are_held_up_in_calm(held_up: tuple[int, int], moments: tuple[int, int], end: Ended) -> None:
    """
    One in two hundred of the candidate's sends held up, in eleven moments, diverges, and over a quarter in any number.

    If more of the baseline's are held up, at least a tenth, the check is inconclusive.
    """
    tallies = sends(1_000, held_up=held_up)
    for arm, n in zip(Arm, moments, strict=True):
        tallies["outcomes.more", arm, "calm", "held-up"] = (n, 0.0)
    evidence = outcomes_evaluation.evaluate(sound_case(tallies))
    assert end_of(evidence) == end
    reason = f"no calm baseline: {held_up[0]} of 1000 sends of java:5.3.3 were held up"
    assert evidence.reason == (reason if end is OPEN else "")


def test_a_client_slow_for_all_of_a_short_calm_is_not_accused() -> None:
    """A stall of one process may fill the second before a fault, but not a quarter of a case."""
    tallies = sends(100, held_up=(0, 60))
    tallies |= {("outcomes", arm, "faults", "sends"): (400, 0.0) for arm in Arm}
    assert end_of(outcomes_evaluation.evaluate(sound_case(tallies))) == PASSES
    tallies |= {("outcomes", arm, "faults", "sends"): (100, 0.0) for arm in Arm}
    assert end_of(outcomes_evaluation.evaluate(sound_case(tallies))) == DIVERGES


def situation(name: str, met_by: tuple[int, int], ended_so: tuple[int, int]) -> Tallies:
    """How often each arm met it, and how often it ended badly."""
    tallies = sends()
    for place, arm in enumerate(Arm):
        tallies["outcomes.met", arm, "faults", name] = (met_by[place], 0.0)
        tallies["outcomes.ended", arm, "faults", name] = (ended_so[place], 0.0)
    return tallies


@pytest.mark.parametrize(
    ("met", "failed", "unseen", "end"),
    [
        ((100, 100), (0, 25), (0, 25), PASSES),
        ((100, 100), (0, 26), (0, 26), DIVERGES),
        ((50, 100), (0, 25), (0, 25), PASSES),
        ((0, 100), (0, 26), (0, 26), PASSES),
        ((100, 100), (26, 0), (26, 0), DIVERGES),
        ((100, 100), (0, 99), (0, 0), PASSES),
        ((100, 100), (1, 99), (1, 99), PASSES),
        ((100, 100), (99, 99), (0, 99), PASSES),  # the other client shows the attempts of its failures
    ],
)
def test_sends_that_a_killed_broker_refuses_unseen(
    met: tuple[int, int], failed: tuple[int, int], unseen: tuple[int, int], end: Ended
) -> None:
    """Of a client that does not report attempts: over a quarter of the sends beside a fault failed, and none of the other's."""
    tallies = sends()
    for place, arm in enumerate(Arm):
        tallies["outcomes", arm, "faults", "sends"] = (met[place], 0.0)
        tallies["outcomes.failed-while-gone", arm, "faults", "failed"] = (failed[place], 0.0)
        tallies["outcomes.failed-without-a-request", arm, "faults", "failed"] = (unseen[place], 0.0)
    evidence = outcomes_evaluation.evaluate(sound_case(tallies))
    assert end_of(evidence) == end
    shares = ComparedShares("failed/while-a-broker-is-gone", "while a broker was gone", "failed", met, failed)
    assert evidence.counts == ((shares,) if end is DIVERGES else ())


@pytest.mark.parametrize("name", ["failed/after-a-failed-attempt/pause", "reserved/while-a-broker-waits/kill-slave"])
@pytest.mark.parametrize(
    ("met_by", "ended_so", "end"),
    [
        ((40, 40), (40, 20), PASSES),
        ((40, 40), (40, 19), DIVERGES),
        ((40, 40), (20, 40), PASSES),
        ((40, 40), (0, 20), PASSES),
        ((40, 40), (0, 21), DIVERGES),
        ((40, 40), (39, 5), PASSES),
        ((40, 0), (40, 0), PASSES),
        ((0, 40), (0, 40), PASSES),
    ],
)
def test_shares_that_are_compared_are_more_than_half_apart(
    name: str, met_by: tuple[int, int], ended_so: tuple[int, int], end: Ended
) -> None:
    """Shares of both arms diverge if one is all or none and they are over half apart; less is scatter."""
    evidence = outcomes_evaluation.evaluate(sound_case(situation(name, met_by, ended_so)))
    assert end_of(evidence) == end
    words = {
        "failed": ("where the first attempt met a fault and failed", "failed"),
        "reserved": ("at a broker whose slave or disk was at fault", "returned a status other than SEND_OK"),
    }[name.partition("/")[0]]
    shares = [one for one in evidence.counts if isinstance(one, ComparedShares)]
    assert shares == [ComparedShares(name, *words, met_by, ended_so)][: len(shares)]
    assert end is not DIVERGES or shares


@pytest.mark.parametrize(
    ("calm", "crowded", "timeout_ms", "end"),
    [
        (100, 2, 300, PASSES),
        (100, 3, 300, VOID),
        (400, 4, 300, PASSES),
        (400, 5, 300, VOID),
        (100, 90, 299, PASSES),
    ],
)
def test_a_calm_in_which_the_machine_fails_the_baseline_is_none(
    calm: int, crowded: int, timeout_ms: int, end: Ended
) -> None:
    """
    The case is invalid if the machine failed over two and over 1 % of the baseline's sends in calm, from a timeout of 300 ms on.
    """
    tallies = sends(calm) | {
        ("outcomes.crowded", Arm.BASELINE, "calm", "MQBrokerException/code=2"): (crowded - 1, 0.0),
        ("outcomes.crowded", Arm.BASELINE, "calm", "RemotingTimeoutException"): (1, 0.0),
        ("outcomes.crowded", Arm.BASELINE, "calm", "not failed"): (calm - crowded, 0.0),
        ("outcomes.crowded", Arm.CANDIDATE, "calm", "RemotingTimeoutException"): (calm, 0.0),
    }
    evidence = outcomes_evaluation.evaluate(sound_case(tallies, timeout_ms))
    assert end_of(evidence) == end
    if end is VOID:
        ends = f"{crowded - 1} by MQBrokerException/code=2, 1 by RemotingTimeoutException"
        assert evidence.reason == f"no calm baseline: {crowded} of {calm} sends of java:5.3.3 failed ({ends})"
    assert len(outcomes_evaluation.pooled([sound_case(with_more(tallies, 11), timeout_ms)] * 2)) == (
        end is PASSES and timeout_ms >= 300
    )


def with_more(tallies: Tallies, units: int, what: str = "failed", phase: str = "calm") -> Tallies:
    """Moments or fault periods of the candidate alone."""
    return tallies | {("outcomes.more", Arm.CANDIDATE, phase, what): (units, 0.0)}


@pytest.mark.parametrize("phase", ["calm", "faults"])
@pytest.mark.parametrize(("each", "end"), [((5, 5), None), ((5, 6), DIVERGES)])
def test_ten_units_over_all_cases_decide_nothing_and_eleven_do(
    each: tuple[int, int], end: Ended | None, phase: str
) -> None:
    """Over two cases ten units to none (p = 0.002) decide nothing, eleven (half of that) do."""
    pool = [sound_case(with_more(sends(), n, phase=phase)) for n in each]
    evidence = outcomes_evaluation.pooled(pool)
    assert [end_of(item) for item in evidence] == ([] if end is None else [end])
    if evidence:
        assert (evidence[0].case, evidence[0].check) == ("pooled/sends/java:5.3.3~python:5.3.3", "outcomes")
        assert (evidence[0].decisions, evidence[0].standing) == (11, Standing.DECISIVE)


def test_one_case_is_no_pool() -> None:
    """One case is not pooled: its own evidence has the same counts."""
    one = sound_case(with_more(sends(), 11))
    assert outcomes_evaluation.pooled([one]) == ()
    assert end_of(outcomes_evaluation.evaluate(one)) == DIVERGES


def test_first_failures_near_a_fault_are_not_compared() -> None:
    """Near a fault the rotation counter decides how many sends fail at first, so only calm counts."""
    assert (
        end_of(outcomes_evaluation.evaluate(sound_case(with_more(sends(), 40, "failed-at-first", "faults")))) == PASSES
    )
    assert end_of(outcomes_evaluation.evaluate(sound_case(with_more(sends(), 40, "failed-at-first")))) == DIVERGES


def test_no_send_of_both_arms_is_no_answer() -> None:
    """Without a send that returned in both arms the check is inconclusive."""
    evidence = outcomes_evaluation.evaluate(sound_case({}))
    assert (end_of(evidence), evidence.reason) == (OPEN, "no send returned in both arms")


def test_failures_of_both_arms_are_measures() -> None:
    """Three and one failed sends of 100 are measures; what never happened is not."""
    tallies = sends(failed=(3, 1)) | {("sends", arm, "calm", "ok"): (100, 0.0) for arm in Arm}
    tallies |= {(IN_A_HUNDRED, arm, "calm", "ms"): (1, 7.5) for arm in Arm}
    measures = outcomes_evaluation.evaluate(sound_case(tallies)).measures
    assert {(measure.name, measure.value, measure.n) for measure in measures} == {
        ("sends-failed baseline", 3, 100),
        ("sends-failed candidate", 1, 100),
        ("99th-percentile-in-calm baseline", 7.5, 100),
        ("99th-percentile-in-calm candidate", 7.5, 100),
    }


def test_decisions_are_the_candidates_sends_and_shares_are_of_the_larger_number() -> None:
    """Decisions are the candidate's sends; shares are of the larger number, so 20 of 100 is under a quarter."""
    for few, many in ((Arm.BASELINE, Arm.CANDIDATE), (Arm.CANDIDATE, Arm.BASELINE)):
        tallies = sends(failed=(0, 20)) | {("outcomes", few, "calm", "sends"): (50, 0.0)}
        evidence = outcomes_evaluation.evaluate(sound_case(tallies))
        assert evidence.decisions == (100 if many is Arm.CANDIDATE else 50)
        assert evidence.counts == ()
    counts = outcomes_evaluation.evaluate(sound_case(sends(103, failed=(0, 26)))).counts
    assert [one.name for one in counts if isinstance(one, ComparedShares)] == ["failed/most-of-calm"]
    alone: Tallies = {("outcomes", CANDIDATE, "calm", what): (60, 0.0) for what in ("sends", "failed")}
    assert outcomes_evaluation.evaluate(sound_case(alone)).counts == ()


@pytest.mark.parametrize(
    ("sent", "held_up", "moments", "is_counted"),
    [
        ((1_000, 1_000), (0, 5), (11, 11), True),
        ((1_000, 1_000), (0, 5), (12, 11), False),
        ((1, 1_000), (0, 4), (0, 11), False),
        ((1_000, 1), (0, 4), (0, 11), True),
        ((1, 1), (0, 1), (0, 1), True),
    ],
)
def test_which_moments_of_sends_held_up_are_counted(
    sent: tuple[int, int], held_up: tuple[int, int], moments: tuple[int, int], is_counted: bool
) -> None:
    """Of one in two hundred of the candidate's sends, unless the baseline was held up in more moments."""
    tallies: Tallies = {}
    for arm, of, n, more in zip(Arm, sent, held_up, moments, strict=True):
        tallies["outcomes", arm, "calm", "sends"] = (of, 0.0)
        tallies["outcomes", arm, "calm", "held-up"] = (n, 0.0)
        tallies["outcomes.more", arm, "calm", "held-up"] = (more, 0.0)
    counts = outcomes_evaluation.evaluate(sound_case(tallies)).counts
    assert (PairedCounts("held-up/calm", "moments", *moments) in counts) is is_counted


def test_moments_without_a_send_in_calm_show_nothing() -> None:
    """Of a pool without sends in calm nothing is one in two hundred."""
    more: Tallies = {("outcomes.more", arm, "calm", "held-up"): (11, 0.0) for arm in Arm}
    assert outcomes_evaluation.evaluate(sound_case(more)).counts == ()


@pytest.mark.parametrize(
    ("sent", "refused", "is_refused"),
    [
        ((9, 9), (9, 9), True),
        ((9, 8), (9, 8), True),
        ((9, 9), (9, 0), False),
        ((9, 9), (0, 9), False),
        ((9, 9), (9, 8), False),
        ((0, 0), (0, 0), False),
    ],
)
def test_nothing_is_compared_where_the_brokers_refused_everything(
    sent: tuple[int, int], refused: tuple[int, int], is_refused: bool
) -> None:
    """Of both clients, in calm. The number is the baseline's."""
    tallies: Tallies = {("outcomes", arm, "faults", "sends"): (5, 0.0) for arm in Arm}
    for arm, of, n in zip(Arm, sent, refused, strict=True):
        tallies["outcomes", arm, "calm", "sends"] = (of, 0.0)
        tallies["outcomes.refused-by-broker", arm, "calm", "code 13"] = (n, 0.0)
    evidence = outcomes_evaluation.evaluate(sound_case(tallies))
    reason = "nothing got through: the brokers refused all 9 messages (code 13)"
    assert (evidence.standing, evidence.reason) == (
        (Standing.INVALID, reason) if is_refused else (Standing.DECISIVE, "")
    )


@pytest.mark.parametrize(("phase", "unit"), [("calm", "moments"), ("faults", "spells of faults")])
def test_counts_of_pairs_have_their_unit(phase: str, unit: str) -> None:
    """Moments in calm, spells of faults otherwise."""
    tallies = sends() | {("outcomes.more", "candidate", phase, "failed"): (3, 0.0)}
    assert outcomes_evaluation.evaluate(sound_case(tallies)).counts == (PairedCounts(f"failed/{phase}", unit, 0, 3),)


def test_sends_beside_faults_could_be_held_up_as_well() -> None:
    """Of 100 sends in calm and 200 beside faults 75 held up in calm are a quarter."""
    beside = {("outcomes", "candidate", "faults", "sends"): (200, 0.0)}
    for held_up, shares in ((75, []), (76, ["held-up/most-of-calm"])):
        counts = outcomes_evaluation.evaluate(sound_case(sends(held_up=(0, held_up)) | beside)).counts
        assert [one.name for one in counts if isinstance(one, ComparedShares)] == shares
