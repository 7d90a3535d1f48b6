"""The tables behind a report's charts."""

from collections.abc import Callable

import pytest

from rocketdiff.analysis.run_analysis import analyze
from rocketdiff.analysis.sending.pictures.plots import quantile_ms
from rocketdiff.analysis.sending.pictures.tallies import bucket_of, middle_of
from rocketdiff.core.answers.plots import Plots
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.synthetic import ArmRecords, Pause, Story

NewRun = Callable[..., RunDirectory]


def plots(run: RunDirectory) -> Plots:
    return analyze([run.path], master=WITHOUT_SPARK).plots


def test_lanes_show_the_attempts_around_the_first_pause(new_run: NewRun) -> None:
    """The lane shows the pause from 1,000 to 3,000 ms, and attempts from 500 to 4,500 ms."""
    (lane,) = plots(new_run([Story(sends=600)])).lanes
    (window,) = lane.faults
    assert (window.node, window.start_ms, window.end_ms) == (
        "broker-b",
        pytest.approx(1_000, abs=1),
        pytest.approx(3_000, abs=1),
    )
    assert all(499 <= bar.start_ms <= 4_501 for bar in lane.attempts)
    assert {bar.arm for bar in lane.attempts} == {"baseline", "candidate"}
    assert lane.left_out == 1_200 - len(lane.attempts) > 0
    assert {bar.outcome for bar in lane.attempts} == {"ok", "unknown"}


def test_a_window_lies_around_the_example_and_marks_it(new_run: NewRun) -> None:
    """The lane shows 60 sends around the lost message 300, marked in its arm."""

    def lose(reported: ArmRecords) -> None:
        reported.stored = [copy for copy in reported.stored if copy.send != 300]

    run = new_run([Story(name="plain", sends=600, pauses=())], change=lose)
    (lane,) = plots(run).lanes
    assert ("candidate", 300, "loss.acknowledged-not-stored") in [
        (mark.arm, mark.send, mark.signature) for mark in lane.marks
    ]
    sends = {bar.send for bar in lane.attempts if bar.arm == "candidate"}
    assert (min(sends), max(sends)) == (270, 330)
    assert {bar.arm for bar in lane.attempts} == {"baseline", "candidate"}


def test_the_whole_case_is_counted_by_broker_and_step(new_run: NewRun) -> None:
    """The overview counts 600 sends in twelve seconds by broker and step; one send timed out."""
    (whole,) = plots(new_run([Story(sends=600)])).overviews
    rows = {(row.arm, row.broker): row for row in whole.rows}
    assert sum(sum(row.stored) for (arm, _), row in rows.items() if arm == "candidate") == 599
    assert sum(rows["candidate", "broker-b"].other) == 1
    assert (whole.step_ms, len(rows["candidate", "broker-a"].stored)) == (250.0, 48)


def test_shares_of_a_phase_add_up_to_one(new_run: NewRun) -> None:
    """Shares of a phase add up to 1; broker-a has over 90 % while broker-b is avoided."""
    shares = plots(new_run()).shares
    paused = {row.broker: row.share for row in shares if (row.arm, row.phase) == ("candidate", "paused")}
    assert sum(paused.values()) == pytest.approx(1)
    assert paused["broker-a"] > 0.9
    calm = [row.attempts for row in shares if (row.arm, row.phase) == ("candidate", "calm")]
    assert calm == [25, 25]


def test_ambiguity_ends_after_the_first_choice(new_run: NewRun) -> None:
    """All eight queues are legal for the first choice, later only one."""
    curves = plots(new_run([Story(name="calm", pauses=(), sends=40)])).ambiguity
    (baseline, _) = curves
    assert baseline.points[0][0] == 0.0 and baseline.points[0][1] > 1 / 8
    assert [share for _, share in baseline.points[1:]] == [1 / 8] * (len(baseline.points) - 1)


def test_failover_is_a_curve_over_episodes(new_run: NewRun) -> None:
    """Two episodes of 504 ms make a curve of two episodes."""
    story = Story(pauses=(Pause("broker-b", 1_000, 1_500), Pause("broker-b", 13_000, 1_500)), sends=1_000)
    drawn = plots(new_run([story]))
    curves = {(curve.sample, curve.arm): curve for curve in drawn.failover}
    curve = curves["failover-time", "candidate"]
    assert curve.points[-1] == (pytest.approx(504.09), pytest.approx(1.0))
    assert (curve.episodes, curve.censored, curve.judged) == (2, 0, False)
    judged = curves["failover-time-per-timeout", "candidate"]
    assert (judged.episodes, judged.censored, judged.judged) == (2, 0, True)
    (ends,) = drawn.endings
    assert (ends.episodes, ends.baseline, ends.candidate, ends.baseline_only, ends.candidate_only) == (2, 2, 2, 0, 0)


def test_durations_have_quantiles_and_few_sends_no_p99(new_run: NewRun) -> None:
    """Calm sends take 1.02 ms; fewer than 100 sends have no p99."""
    story = Story(name="plain", settings=ClientSettings(send_msg_timeout_ms=500))
    rows = {(row.arm, row.phase): row for row in plots(new_run([story])).elapsed}
    calm, paused = rows["baseline", "calm"], rows["baseline", "paused"]
    assert calm.p50_ms == pytest.approx(1.02, rel=0.01)
    assert (paused.sends < 100, paused.p99_ms) == (True, None)
    assert paused.max_ms == pytest.approx(503, rel=0.01)


@pytest.mark.parametrize("duration_ns", [1, 999, 1_000_000, 501_200_000, 600_000_000_000])
def test_a_bucket_stands_for_its_durations_to_one_per_cent(duration_ns: int) -> None:
    """A bucket is 2 % wide, so its middle is within 1 % of its durations."""
    assert middle_of(bucket_of(duration_ns)) == pytest.approx(duration_ns, rel=0.0101)


def test_a_quantile_lies_in_the_bucket_of_its_rank() -> None:
    """Of 90 short and 10 long durations the 0.9 quantile is short, the 0.91 quantile long."""
    short, long = bucket_of(1_000_000), bucket_of(500_000_000)
    histogram = {long: 10, short: 90}
    assert quantile_ms(histogram, 0.9) == pytest.approx(1, rel=0.0101)
    assert quantile_ms(histogram, 0.91) == pytest.approx(500, rel=0.0101)
