"""``timing`` and ``failover-time``: one value per outage and arm, paired and pooled."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.core.answers.evidence import Ending, Evidence, Standing
from rocketdiff.core.answers.verdict import Severity
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.synthetic import MS, Pause, Story, Told

NewRun = Callable[..., RunDirectory]
EvidenceOf = Callable[[RunDirectory], dict[tuple[str, str], Evidence]]

NAME = "fault-latency/pause-one-of-two"
POOL = "pooled/pause/fault-latency-on"
REPEATED = Story(
    name="repeated",
    pauses=tuple(Pause("broker-b", 1_000 + 12_000 * n, 1_500) for n in range(4)),
    sends=1_250,
    every_ms=40,
)


def test_four_spells_make_a_pool_that_gates(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """Four outages gate; each blocks one send per arm for 500 ms, and 3 ms until noticed."""
    evidence = evidence_of(new_run([REPEATED]))
    pooled = evidence[POOL, "timing"]
    assert (pooled.standing, pooled.severity, pooled.decisions) == (Standing.DECISIVE, Severity.MUST, 4)
    (sample,) = pooled.samples
    assert sample.complete() == tuple((pytest.approx(503_020_000), pytest.approx(503_020_000)) for _ in range(4))
    assert sample.margin.ratio == 1.2
    assert evidence["repeated", "timing"].severity is Severity.INFO


def test_too_few_spells_do_not_gate(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """One outage does not gate, neither in its case, which names the pool, nor in that pool."""
    evidence = evidence_of(new_run())
    own, pooled = evidence[NAME, "timing"], evidence[POOL, "timing"]
    assert (own.standing, own.severity) == (Standing.INDECISIVE, Severity.INFO)
    assert own.reason.startswith(
        "1 complete pair of spells here; judged over all cases in pooled/pause/fault-latency-on"
    )
    assert (pooled.standing, pooled.severity) == (Standing.INDECISIVE, Severity.SHOULD)


def test_cases_with_and_without_fault_latency_are_pooled_apart(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """Cases with and without fault latency have separate pools: the clients differ."""
    plain = replace(REPEATED, name="plain", settings=ClientSettings(send_msg_timeout_ms=500))
    pools = {case for case, check in evidence_of(new_run([REPEATED, plain])) if check == "timing" and "pooled" in case}
    assert pools == {"pooled/pause/fault-latency-on", "pooled/pause/fault-latency-off"}


def test_a_send_that_the_end_of_the_pause_cuts_short_is_no_timing(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A pause of 300 ms under a timeout of 500 ms is not timed: it shows only when the send began."""
    short = replace(REPEATED, name="short", pauses=(Pause("broker-b", 1_000, 300),), sends=200)
    evidence = evidence_of(new_run([short]))
    assert evidence["short", "timing"].measures == ()
    assert evidence[POOL, "timing"].decisions == 0


def test_a_client_that_waits_twice_as_long_shows_in_every_pair(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """Blocked sends that return half a second later show in every pair of outages."""

    def dawdle(told: Told) -> None:
        told.sends = [replace(one, end_ns=one.end_ns + 500 * MS) if one.error else one for one in told.sends]

    (sample,) = evidence_of(new_run([REPEATED], change=dawdle))[POOL, "timing"].samples
    assert [candidate / baseline for baseline, candidate in sample.complete()] == pytest.approx([1.994] * 4, abs=0.001)


def test_failover_ends_with_the_next_success_elsewhere(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A failover is a blocked attempt of 503 ms and a send of 1 ms elsewhere."""
    pooled = evidence_of(new_run([REPEATED]))[POOL, "failover-time"]
    (sample,) = pooled.samples
    per_timeout = 504.04 / 503 * 500 * MS
    assert sample.complete()[0] == (pytest.approx(per_timeout, rel=1e-4), pytest.approx(per_timeout, rel=1e-4))
    assert {pair.baseline_ended for pair in sample.pairs} == {Ending.FAILOVER}
    means = {measure.name: measure for measure in pooled.measures}
    assert means["restricted-mean-failover-time baseline"].value == pytest.approx(504.09, rel=1e-4)


def test_one_attempt_that_fails_at_once_does_not_decide_a_spell(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """One of three blocked sends ends after 4 ms, as on a closed connection; the upper median stands."""
    plain = Story(name="plain", settings=ClientSettings(send_msg_timeout_ms=300))

    def reset(told: Told) -> None:
        second = [one for one in told.attempts if one.error][1]
        told.attempts = [replace(one, end_ns=one.start_ns + 3 * MS) if one is second else one for one in told.attempts]
        told.sends = [
            replace(one, end_ns=one.start_ns + 4 * MS) if one.send == second.send else one for one in told.sends
        ]

    evidence = evidence_of(new_run([plain], change=reset))["plain", "timing"]
    assert [measure.value for measure in evidence.measures] == [pytest.approx(303.02), pytest.approx(303.02)]


def test_what_a_client_does_besides_waiting_counts(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A sleep of 200 ms after each blocked attempt counts in the failover time."""

    def sleep(told: Told) -> None:
        told.sends = [replace(one, end_ns=one.end_ns + 200 * MS) if one.error else one for one in told.sends]

    (sample,) = evidence_of(new_run([REPEATED], change=sleep))[POOL, "failover-time"].samples
    assert [candidate / baseline for baseline, candidate in sample.complete()] == pytest.approx([1.397] * 4, abs=0.001)


def test_a_client_that_merely_waits_has_not_failed_over(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A success that comes when both paused brokers resume is RESUMED, not a failover."""
    pauses = (Pause("broker-a", 1_000, 1_200), Pause("broker-b", 1_000, 1_200))
    plain = Story(name="plain", settings=ClientSettings(send_msg_timeout_ms=500), pauses=pauses)
    evidence = evidence_of(new_run([plain]))["pooled/pause/fault-latency-off", "failover-time"]
    (sample,) = evidence.samples
    assert [(pair.baseline_ended, pair.candidate_ended) for pair in sample.pairs] == [(Ending.RESUMED, Ending.RESUMED)]
    assert (evidence.standing, evidence.decisions) == (Standing.INDECISIVE, 0)


def test_a_case_that_ends_before_any_success_is_open(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """Brokers paused to the end leave the outage OPEN."""
    pauses = (Pause("broker-a", 1_000, 60_000), Pause("broker-b", 1_000, 60_000))
    both = replace(REPEATED, name="both", pauses=pauses, sends=80)
    (sample,) = evidence_of(new_run([both]))[POOL, "failover-time"].samples
    assert [(pair.episode, pair.baseline_ended) for pair in sample.pairs] == [(1, Ending.OPEN)]


def test_without_a_pause_there_is_no_pool(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A case without a pause is not applicable and has no pool."""
    evidence = evidence_of(new_run([Story(name="calm", pauses=())]))
    assert evidence["calm", "failover-time"].standing is Standing.NOT_APPLICABLE
    assert not any(case.startswith("pooled") for case, _ in evidence)
