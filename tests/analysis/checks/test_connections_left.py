"""A client that leaves connections open, or makes one a send, has that in its figures; what rules and luck leave open is not."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.analysis.checks.connections_left import LEFT_OPEN, MADE_ANEW
from harness.core.errors import ExitCode
from harness.core.events import Arm
from harness.core.verdict import Verdict
from harness.traces.connections import ConnectionSample
from harness.traces.manifest import Breach
from harness.traces.run_directory import RunDirectory
from tests.analysis.planting import PLAIN
from tests.analysis.synthetic import MS, ORIGIN_NS
from tests.analysis.verdicts import judged

Held = dict[str, int] | None
NewRun = Callable[..., RunDirectory]
ONE_EACH: Held = {"broker-a": 1, "broker-b": 1, "name-server-1": 1}
CALM = replace(PLAIN, name="calm", pauses=())


def at_rest(*held: Held) -> tuple[ConnectionSample, ...]:
    """One connection to each before the first send, then so many."""
    start = ConnectionSample(ORIGIN_NS - 200 * MS, ONE_EACH, {})
    return (start, *(ConnectionSample(ORIGIN_NS + (60_000 + n) * MS, one, {}, True) for n, one in enumerate(held)))


def anew(every_ms: int, count: int) -> tuple[ConnectionSample, ...]:
    """One connection at any time, but another one at each look."""
    looks = [ConnectionSample(ORIGIN_NS + n * every_ms * MS, ONE_EACH, {"broker-a": 1}) for n in range(count)]
    return (*looks, *at_rest(ONE_EACH)[1:])


def run_of(
    new_run: NewRun,
    candidate: tuple[ConnectionSample, ...],
    baseline: tuple[ConnectionSample, ...] = at_rest(ONE_EACH),
    story: object = PLAIN,
) -> RunDirectory:
    run = new_run([story])
    connections = {Arm.BASELINE: baseline, Arm.CANDIDATE: candidate}
    run.change(1, lambda entry: replace(entry, connections=connections))
    return RunDirectory.open(run.path)


def found(run: RunDirectory) -> tuple[ExitCode, list[str]]:
    """How the run ends, and what is told about connections beyond the baseline's."""
    judgement = judged(run)
    measures = [one.name for result in judgement.results for one in result.measures]
    return judgement.exit_code, [one for one in measures if one.startswith((LEFT_OPEN, MADE_ANEW))]


@pytest.mark.parametrize(
    ("held", "signatures"),
    [
        (
            {"broker-a": 200, "broker-b": 200},
            ["connections-left-open/broker-a", "connections-left-open/broker-b"],
        ),
        ({"broker-a": 1, "broker-b": 3}, ["connections-left-open/broker-b"]),
        ({"broker-a": 4}, ["connections-left-open/broker-a"]),
        ({"broker-a vip": 3}, ["connections-left-open/broker-a vip"]),
        ({"name-server-1": 6}, ["connections-left-open/name-server-1"]),
    ],
)
def test_a_client_that_leaves_connections_open_is_told(new_run: NewRun, held: Held, signatures: list[str]) -> None:
    """One a send; two more after as many time-outs; one for each of four threads; to the old port; to the name server."""
    assert found(run_of(new_run, at_rest(held, held, held))) == (ExitCode.CONFORMS, signatures)


@pytest.mark.parametrize(
    "held",
    [
        (ONE_EACH,) * 3,
        ({"broker-a": 2, "broker-b": 2, "name-server-1": 2},) * 3,
        ({"broker-a": 9}, {"broker-a": 2}, {"broker-a": 9}),
        ({"broker-a": 1, "broker-a vip": 1},) * 3,
        ({"broker-a": 9}, None, {"broker-a": 9}),
        (),
    ],
)
def test_what_rules_or_haste_leave_open_does_not(new_run: NewRun, held: tuple[Held, ...]) -> None:
    """The same; a second client for the warm-up; one that is being closed; both ports; nobody could see."""
    assert found(run_of(new_run, at_rest(*held))) == (ExitCode.CONFORMS, [])


def test_a_leak_that_both_have_is_no_difference(new_run: NewRun) -> None:
    """Releases from 5.4.0 on leak by rule, a little more or less as it happens."""
    assert found(run_of(new_run, at_rest({"broker-b": 8}), at_rest({"broker-b": 4})))[0] is ExitCode.CONFORMS


def test_what_the_baseline_leaks_is_told(new_run: NewRun) -> None:
    """A figure of its own, and none of the candidate's."""
    judgement = judged(run_of(new_run, at_rest(ONE_EACH), at_rest({"broker-b": 40})))
    (result,) = [one for one in judgement.results if one.check == "outcomes"]
    told = {one.name: one.value for one in result.measures if one.name.startswith("connections-at-rest")}
    assert (result.verdict, told["connections-at-rest baseline"]) == (Verdict.CONFORMS, 40)


def test_a_connection_a_send_is_seen_though_each_is_closed(new_run: NewRun) -> None:
    """Never more than one open, but another one at each look: of nine looks eight new ones are more than luck."""
    found_so = ExitCode.CONFORMS, ["connections-made-anew/broker-a"]
    assert found(run_of(new_run, anew(500, 9), story=CALM)) == found_so


def test_some_connections_made_anew_in_calm_are_luck(new_run: NewRun) -> None:
    """Seven: twice the one that the baseline may not have needed, and five for a crowded machine."""
    assert found(run_of(new_run, anew(500, 8), story=CALM)) == (ExitCode.CONFORMS, [])


def test_connections_made_anew_after_a_fault_are_its_doing(new_run: NewRun) -> None:
    """Each time-out closes one, so that only what comes before the first fault counts."""
    first_ms = PLAIN.pauses[0].at_ms
    looks = [ConnectionSample(ORIGIN_NS + (first_ms + n * 500) * MS, ONE_EACH, {"broker-a": 1}) for n in range(1, 20)]
    start, rest = at_rest(ONE_EACH)
    assert found(run_of(new_run, (start, *looks, rest))) == (ExitCode.CONFORMS, [])


def test_nothing_is_said_of_a_client_that_broke_off(new_run: NewRun) -> None:
    """What is missing of it is a consequence."""
    run = run_of(new_run, at_rest({"broker-a": 50}))
    breach = {Arm.BASELINE: Breach("protocol.died", "a subject that lives", "it is gone")}
    run.change(1, lambda entry: replace(entry, breaches=breach))
    assert found(RunDirectory.open(run.path))[1] == []
