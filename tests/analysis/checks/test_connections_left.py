"""A client that leaves connections open, or opens one per send, fails the run."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.manifest import Breach, ConnectionSample
from rocketdiff.traces.reader import read_table
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from tests.analysis.planting import PLAIN
from tests.analysis.synthetic import MS, ORIGIN_NS, Story
from tests.analysis.verdicts import judged

Held = dict[str, int] | None
NewRun = Callable[..., RunDirectory]
ONE_EACH: Held = {"broker-a": 1, "broker-b": 1, "name-server-1": 1}
CALM = replace(PLAIN, name="calm", pauses=())


def at_rest(*held: Held) -> tuple[ConnectionSample, ...]:
    """One connection to each server before the first send, then these."""
    start = ConnectionSample(ORIGIN_NS - 200 * MS, ONE_EACH, {})
    return (start, *(ConnectionSample(ORIGIN_NS + (60_000 + n) * MS, one, {}, True) for n, one in enumerate(held)))


def anew(every_ms: int, count: int) -> tuple[ConnectionSample, ...]:
    """One open connection, but a new one in each sample."""
    looks = [ConnectionSample(ORIGIN_NS + n * every_ms * MS, ONE_EACH, {"broker-a": 1}) for n in range(count)]
    return (*looks, *at_rest(ONE_EACH)[1:])


def run_of(
    new_run: NewRun,
    candidate: tuple[ConnectionSample, ...],
    baseline: tuple[ConnectionSample, ...] = at_rest(ONE_EACH),
    story: Story = PLAIN,
    release: str = "5.3.3",
) -> RunDirectory:
    return run_of_stories(new_run, candidate, baseline, [story], release)


def run_of_stories(
    new_run: NewRun,
    candidate: tuple[ConnectionSample, ...],
    baseline: tuple[ConnectionSample, ...],
    stories: Sequence[Story],
    release: str = "5.3.3",
) -> RunDirectory:
    run = new_run(stories, baseline=f"java:{release}", candidate=f"python:{release}")
    connections = {str(Arm.BASELINE): baseline, str(Arm.CANDIDATE): candidate}
    for number in range(1, len(stories) + 1):
        run.change(number, lambda entry: replace(entry, connections=connections))
    return RunDirectory.open(run.path)


def found(run: RunDirectory) -> tuple[ExitCode, list[str]]:
    """Exit code and signatures about connections."""
    judgement = judged(run)
    signatures = [one.signature for result in judgement.results for one in result.divergences]
    return judgement.exit_code, sorted(one for one in signatures if "connections" in one)


TO_BROKERS = "outcomes.connections-left-open/broker"
TO_NAME_SERVERS = "outcomes.connections-left-open/name-server"


@pytest.mark.parametrize(
    ("held", "signatures"),
    [
        ({"broker-a": 200, "broker-b": 200}, [TO_BROKERS]),
        ({"broker-a": 1, "broker-b": 3}, [TO_BROKERS]),
        ({"broker-a": 4}, [TO_BROKERS]),
        ({"broker-a vip": 3}, [TO_BROKERS]),
        ({"name-server-1": 3}, [TO_NAME_SERVERS]),
        ({"broker-a": 5, "name-server-1": 5}, [TO_BROKERS, TO_NAME_SERVERS]),
    ],
)
@pytest.mark.parametrize("release", ["4.9.8", "5.3.3"])
def test_a_client_that_leaves_connections_open_diverges(
    new_run: NewRun, held: Held, signatures: list[str], release: str
) -> None:
    """Connections left open per send, pause or thread diverge, to brokers, the VIP port or name servers."""
    run = run_of(new_run, at_rest(held, held, held), release=release)
    assert found(run) == (ExitCode.DIVERGES, signatures)


@pytest.mark.parametrize(
    "held",
    [
        (ONE_EACH,) * 3,
        ({"broker-a": 2, "broker-b": 2, "name-server-1": 2},) * 3,
        ({"broker-a": 3}, {"broker-a": 2}, {"broker-a": 3}),
        ({"broker-a": 1, "broker-a vip": 1},) * 3,
        ({"broker-a": 9}, None, {"broker-a": 9}),
        (),
    ],
)
def test_what_luck_or_haste_leaves_open_does_not(new_run: NewRun, held: tuple[Held, ...]) -> None:
    """A spare connection, one being closed, both ports and an incomplete observation conform."""
    assert found(run_of(new_run, at_rest(*held))) == (ExitCode.CONFORMS, [])


def test_a_client_of_two_from_the_start_is_none_that_leaks(new_run: NewRun) -> None:
    """Connections from before the first send are no leak: a driver may keep its warm-up client."""
    held = {"broker-a": 4, "name-server-1": 4}
    start = ConnectionSample(ORIGIN_NS - 200 * MS, held, {})
    assert found(run_of(new_run, (start, *at_rest(held, held, held)[1:]))) == (ExitCode.CONFORMS, [])


def test_a_leak_that_both_have_is_no_difference(new_run: NewRun) -> None:
    """The candidate may have five new connections: twice the baseline's two, plus one."""
    run = run_of(new_run, at_rest({"broker-b": 6}), at_rest({"broker-b": 3}))
    assert found(run) == (ExitCode.CONFORMS, [])


def under_a_fault(count: int) -> tuple[ConnectionSample, ...]:
    """Connections that are closed again at rest."""
    start, *rest = at_rest(ONE_EACH, ONE_EACH, ONE_EACH)
    return (start, ConnectionSample(ORIGIN_NS + 2_500 * MS, {"broker-a": 1, "broker-b": count}, {}), *rest)


@pytest.mark.parametrize(("count", "signatures"), [(1, []), (3, []), (4, ["outcomes.connections-at-once/broker"])])
def test_many_connections_at_once_are_seen_though_all_are_closed(
    new_run: NewRun, count: int, signatures: list[str]
) -> None:
    """A client may hold its own connection and two that are being closed; a fourth diverges."""
    code = ExitCode.DIVERGES if signatures else ExitCode.CONFORMS
    assert found(run_of(new_run, under_a_fault(count))) == (code, signatures)


LEAKY = "5.5.0"


def failed_attempts(run: RunDirectory) -> int:
    """The candidate's failed attempts, here all at broker-b."""
    rows = read_table(run, TableName.ATTEMPTS, 1, Arm.CANDIDATE).to_pylist()
    return sum(row["error"] is not None for row in rows)


@pytest.mark.parametrize(("more", "signatures"), [(0, []), (1, [TO_BROKERS])])
def test_a_release_that_leaks_by_rule_may_do_so_once_a_failure(
    new_run: NewRun, more: int, signatures: list[str]
) -> None:
    """From 5.4.0 on a client may hold its own connection, a spare, two for heartbeats and two per failed attempt."""
    failed = failed_attempts(new_run([PLAIN], baseline=f"java:{LEAKY}", candidate=f"python:{LEAKY}", run="first"))
    held = {"broker-b": 1 + 1 + 2 + 2 * failed + more}
    code = ExitCode.DIVERGES if signatures else ExitCode.CONFORMS
    assert failed
    assert found(run_of(new_run, at_rest(held, held), release=LEAKY)) == (code, signatures)


def test_a_release_that_leaks_by_rule_does_not_where_nothing_fails(new_run: NewRun) -> None:
    """In calm many connections left open are a leak even in 5.5.0."""
    held = {"broker-a": 40}
    run = run_of(new_run, at_rest(held, held), story=CALM, release=LEAKY)
    assert found(run) == (ExitCode.DIVERGES, [TO_BROKERS])


def test_one_connection_a_case_is_seen_over_many_cases(new_run: NewRun) -> None:
    """One extra connection in each of eleven cases diverges if the baseline has none."""
    stories = [replace(CALM, name=f"calm-{n}") for n in range(11)]
    held = {"broker-a": 2, "broker-b": 1}
    run = run_of_stories(new_run, at_rest(held, held), at_rest(ONE_EACH), stories)
    assert found(run) == (ExitCode.DIVERGES, ["outcomes.more-often/connections-left-open"])


def test_one_connection_in_ten_cases_is_luck(new_run: NewRun) -> None:
    """Ten cases to none have a probability of 0.2 % and conform."""
    stories = [replace(CALM, name=f"calm-{n}") for n in range(10)]
    held = {"broker-a": 2, "broker-b": 1}
    assert found(run_of_stories(new_run, at_rest(held, held), at_rest(ONE_EACH), stories)) == (ExitCode.CONFORMS, [])


def test_what_the_baseline_leaks_is_told(new_run: NewRun) -> None:
    """The baseline's leak is a measure and no divergence."""
    judgement = judged(run_of(new_run, at_rest(ONE_EACH), at_rest({"broker-b": 40})))
    (result,) = [one for one in judgement.results if one.check == "outcomes"]
    told = {one.name: one.value for one in result.measures if one.name.startswith("connections-at-rest")}
    assert (result.verdict, told["connections-at-rest baseline"]) == (Verdict.CONFORMS, 40)


def test_a_connection_a_send_is_seen_though_each_is_closed(new_run: NewRun) -> None:
    """Eight new connections in nine samples diverge, although only one is open."""
    found_so = ExitCode.DIVERGES, ["outcomes.connections-made-anew/broker"]
    assert found(run_of(new_run, anew(500, 9), story=CALM)) == found_so


def test_some_connections_made_anew_in_calm_are_luck(new_run: NewRun) -> None:
    """Seven new connections conform: twice the baseline's one, plus five for a crowded machine."""
    assert found(run_of(new_run, anew(500, 8), story=CALM)) == (ExitCode.CONFORMS, [])


def test_connections_made_anew_after_a_fault_are_its_doing(new_run: NewRun) -> None:
    """New connections count only before the first fault, because each timeout closes one."""
    first_ms = PLAIN.pauses[0].at_ms
    looks = [ConnectionSample(ORIGIN_NS + (first_ms + n * 500) * MS, ONE_EACH, {"broker-a": 1}) for n in range(1, 20)]
    start, rest = at_rest(ONE_EACH)
    assert found(run_of(new_run, (start, *looks, rest))) == (ExitCode.CONFORMS, [])


def test_nothing_is_said_of_a_client_that_broke_off(new_run: NewRun) -> None:
    """Connections are not judged if a subject broke off."""
    run = run_of(new_run, at_rest({"broker-a": 50}))
    breach = {str(Arm.BASELINE): Breach("protocol.died", "a subject that lives", "it is gone")}
    run.change(1, lambda entry: replace(entry, breaches=breach))
    assert found(RunDirectory.open(run.path))[1] == []
