"""How many connections a client may hold or open anew, from both sides of each limit."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts, TallyKey
from rocketdiff.analysis.sending.checks.results import outcomes_evaluation
from rocketdiff.analysis.sending.checks.results.connections_left import (
    AFTER_REFUSALS,
    AT_TIMES,
    BY_RULE,
    NEVER,
    LeftByRule,
    paired,
)
from rocketdiff.core.answers.evidence import PairedCounts
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.traces.manifest import Breach, ConnectionSample
from tests.analysis.builders import ENTRY, MS, SUBJECTS, S, ended, facts_of, fault, made, pair, tried
from tests.analysis.sending.checks.builders import BASELINE, CANDIDATE

Held = Mapping[str, int] | None

ONE: dict[str, int] = {"broker-b": 1, "name-server-1": 1}

LEFT, AT_ONCE, ANEW = "connections-left-open", "connections-at-once", "connections-made-anew"


def looks(*held: Held, before: Held = ONE, at_rest: bool = True) -> tuple[ConnectionSample, ...]:
    """One sample before the first send, the others from second 100 on."""
    start = ConnectionSample(0, None if before is None else dict(before), {})
    later = (
        ConnectionSample(100 * S + n, None if one is None else dict(one), {}, at_rest) for n, one in enumerate(held)
    )
    return (start, *later)


def case(
    candidate: tuple[ConnectionSample, ...],
    baseline: tuple[ConnectionSample, ...] = looks(ONE),
    *,
    known: str | None = NEVER,
    failed: int = 0,
    faults: Sequence[tuple[FaultKind, str]] = (),
    tallies: dict[TallyKey, tuple[int, float]] | None = None,
) -> CaseFacts:
    """known: when the rules leave a connection open. failed: the candidate's attempts at broker-b that may have done so."""
    reported: dict[TallyKey, tuple[int, float]] = {("outcomes", arm, "calm", "sends"): (10, 0.0) for arm in Arm}
    if known is not None:
        reported[BY_RULE, "", "", known] = (1, 0.0)
    if failed:
        reported[BY_RULE, CANDIDATE, "", "broker-b"] = (failed, 0.0)
    entry = replace(ENTRY, connections={BASELINE: baseline, CANDIDATE: candidate})
    records = tuple(fault(50 * S, 51 * S, kind, node) for kind, node in faults)
    return CaseFacts("r1", SUBJECTS, entry, tallies=reported | (tallies or {}), faults=records)


def found(facts: CaseFacts) -> list[str]:
    """Signatures with counts; the exit code must match."""
    evidence = outcomes_evaluation.evaluate(facts)
    _, code = ended(evidence)
    assert code is (ExitCode.DIVERGES if evidence.divergences else ExitCode.CONFORMS)
    return [
        f"{divergence.signature.removeprefix('outcomes.')} {divergence.count}" for divergence in evidence.divergences
    ]


KILL, PAUSED_NAMES = (FaultKind.KILL, "broker-a"), (FaultKind.PAUSE_NAME_SERVER, "name-server-1")

RESET, PAUSE = (FaultKind.WIRE_RESET, "broker-a"), (FaultKind.PAUSE, "broker-b")


@pytest.mark.parametrize(
    ("server", "known", "failed", "faults", "most"),
    [
        ("broker-b", NEVER, 0, (), 2),
        ("broker-b", NEVER, 5, (KILL,), 2),
        ("broker-b", AFTER_REFUSALS, 0, (), 2),
        ("broker-b", AFTER_REFUSALS, 0, (PAUSE,), 2),
        ("broker-b", AFTER_REFUSALS, 0, (KILL,), 4),
        ("broker-b", AFTER_REFUSALS, 0, (RESET,), 4),
        ("broker-b", AFTER_REFUSALS, 3, (), 8),
        ("broker-b", AT_TIMES, 0, (), 4),
        ("broker-b", AT_TIMES, 3, (), 10),
        ("broker-b vip", AT_TIMES, 3, (), 10),
        ("broker-a", AT_TIMES, 3, (), 4),
        ("name-server-1", NEVER, 0, (PAUSED_NAMES,), 2),
        ("name-server-1", AT_TIMES, 3, (), 4),
        ("name-server-1", AT_TIMES, 0, (PAUSED_NAMES,), None),
        ("name-server-1", AT_TIMES, 0, (PAUSE,), 4),
    ],
)
def test_how_many_may_be_left_open(
    server: str, known: str, failed: int, faults: Sequence[tuple[FaultKind, str]], most: int | None
) -> None:
    """
    A client may hold its own connection, a spare, two for heartbeats that may fail, and two per failed attempt.

    Where rules leave connections open, those to a paused name server have no limit.
    """
    enough = 50 if most is None else most
    kind = server.partition("-")[0].replace("name", "name-server")
    named = {"known": known, "failed": failed, "faults": faults}
    assert found(case(looks({server: enough}), **named)) == []  # type: ignore[arg-type]  # names of parameters
    if most is not None:
        wanted = [f"{LEFT}/{kind} {most}"]
        assert found(case(looks({server: most + 1}), **named)) == wanted  # type: ignore[arg-type]  # the same


@pytest.mark.parametrize(("more", "wanted"), [(0, []), (1, [f"{LEFT}/broker 6"])])
def test_connections_left_by_the_baseline_count_twice(more: int, wanted: list[str]) -> None:
    """The baseline's two new connections allow the candidate four and a spare."""
    assert found(case(looks({"broker-b": 6 + more}), looks({"broker-b": 3}))) == wanted


@pytest.mark.parametrize(
    ("before", "held", "wanted"),
    [
        ({"broker-b": 4}, {"broker-b": 5}, []),
        ({"broker-b": 4}, {"broker-b": 6}, [f"{LEFT}/broker 2"]),
        ({}, {"broker-b": 2}, []),
        ({}, {"broker-b": 3}, [f"{LEFT}/broker 2"]),
        ({"broker-b": 9}, {"broker-b": 1}, []),
        (None, {"broker-b": 40}, []),
    ],
)
def test_connections_from_before_the_first_send_are_no_leak(before: Held, held: Held, wanted: list[str]) -> None:
    """
    Connections held before the first send, and one per server, are no leak; if none were observed then, nothing is judged.
    """
    assert [each for each in found(case(looks(held, before=before))) if "other-servers" not in each] == wanted


@pytest.mark.parametrize("known", [None, NEVER])
def test_without_rules_only_new_connections_are_judged(known: str | None) -> None:
    """Without known rules, connections left open are not judged."""
    assert found(case(looks({"broker-b": 40}), known=known)) == ([] if known is None else [f"{LEFT}/broker 39"])


@pytest.mark.parametrize(
    ("each", "wanted"),
    [
        (({"broker-b": 9}, {"broker-b": 2}), []),
        (({"broker-b": 9}, {"broker-b": 3}), [f"{LEFT}/broker 2"]),
        (({"broker-b": 9}, {}), []),
        (({"broker-b": 9}, None), []),
        (({"broker-a": 3, "broker-b": 4}, {"broker-a": 4, "broker-b": 3}), [f"{LEFT}/broker 4"]),
    ],
)
def test_the_fewest_of_all_looks_at_rest_count(each: tuple[Held, ...], wanted: list[str]) -> None:
    """The fewest connections at rest count per server, unless a sample failed."""
    reported = found(case(looks(*each)))
    assert [item for item in reported if item.startswith(LEFT)] == wanted


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        ({"broker-b": 3}, []),
        ({"broker-b": 4}, [f"{AT_ONCE}/broker 3"]),
        ({"name-server-1": 4, "broker-b": 4}, [f"{AT_ONCE}/broker 3", f"{AT_ONCE}/name-server 3"]),
        ({"broker-a": 4, "broker-b": 5}, [f"{AT_ONCE}/broker 7"]),
        (None, []),
    ],
)
def test_how_many_may_be_held_at_once(held: Held, wanted: list[str]) -> None:
    """A client may hold its own connection and two being closed, unless a sample failed."""
    start, rest = looks(ONE)
    under = ConnectionSample(60 * S, None if held is None else dict(held), {})
    assert found(case((start, under, rest))) == wanted


def test_one_look_that_saw_nothing_leaves_the_most_unknown() -> None:
    """A failed sample leaves the maximum unknown, although another shows nine connections."""
    start, rest = looks(ONE)
    nine = ConnectionSample(60 * S, {"broker-b": 9}, {})
    assert found(case((start, nine, rest))) == [f"{AT_ONCE}/broker 8"]
    (one,) = outcomes_evaluation.evaluate(case((start, nine, rest))).divergences
    assert one.example.phase == "any"
    assert found(case((start, nine, replace(nine, held=None), rest))) == []


def test_connections_left_open_are_reported_once() -> None:
    """A server with connections left open is not reported again for connections at once."""
    start, rest = looks({"broker-b": 10})
    under = ConnectionSample(60 * S, {"broker-a": 4, "broker-b": 10}, {})
    assert found(case((start, under, rest))) == [f"{LEFT}/broker 9", f"{AT_ONCE}/broker 3"]


def test_example_names_servers_and_figures() -> None:
    """The example names servers, limits and connections."""
    (one,) = outcomes_evaluation.evaluate(case(looks({"broker-b": 5, "broker-a": 3}))).divergences
    assert one.example.expected.endswith("and at most 1 to broker-a besides, 1 to broker-b besides")
    assert one.example.observed == "2 more to broker-a, 3 in all, 4 more to broker-b, 5 in all"
    assert (one.example.phase, one.example.where.number, one.subject) == ("rest", -1, "python:5.3.3")


def anew(*at_s: float, number: int = 1, unseen: bool = False) -> tuple[ConnectionSample, ...]:
    """New connections to broker-b at these seconds, each closed again."""
    each = (ConnectionSample(round(at * S), None if unseen else ONE, {"broker-b": number}) for at in at_s)
    return (ConnectionSample(0, ONE, {"broker-b": 1}), *each, ConnectionSample(100 * S, ONE, {}, True))


@pytest.mark.parametrize(
    ("candidate", "baseline", "failed", "wanted"),
    [
        (7, 0, 0, []),
        (8, 0, 0, [f"{ANEW}/broker 8"]),
        (8, 1, 0, [f"{ANEW}/broker 8"]),
        (9, 2, 0, []),
        (10, 2, 0, [f"{ANEW}/broker 10"]),
        (10, 0, 3, []),
        (11, 0, 3, [f"{ANEW}/broker 11"]),
    ],
)
@pytest.mark.parametrize("what", ["failed", "failed-at-first"])
def test_how_many_may_be_made_anew_in_calm(
    candidate: int, baseline: int, failed: int, wanted: list[str], what: str
) -> None:
    """
    A client may open in calm twice the baseline's number (at least two), five, and one per send that failed, if only at first.
    """
    tallies: dict[TallyKey, tuple[int, float]] = {
        **{("outcomes", arm, "calm", "sends"): (1_000, 0.0) for arm in Arm},
        ("outcomes", CANDIDATE, "calm", what): (failed, 0.0),
        ("outcomes", CANDIDATE, "faults", what): (90, 0.0),
        ("outcomes", BASELINE, "calm", what): (90, 0.0),
    }
    theirs = anew(*range(1, baseline + 1)) if baseline else looks(ONE)
    facts = case(anew(*range(1, candidate + 1)), theirs, tallies=tallies)
    assert [one for one in found(facts) if one.startswith(ANEW)] == wanted
    limit = 2 * max(1, baseline) + 5 + failed
    words = {
        (one.example.phase, one.example.expected, one.example.observed)
        for one in outcomes_evaluation.evaluate(facts).divergences
        if ANEW in one.signature
    }
    before = f"a connection that is kept: before any fault at most {limit} new ones to broker-b"
    assert words == ({("calm", before, f"{candidate} to broker-b, of those that were seen")} if wanted else set())


def test_only_connections_made_before_the_first_fault_count() -> None:
    """New connections count after the first sample and before the first fault."""
    before = anew(*range(43, 51))
    assert found(case(before, faults=(PAUSE,))) == []
    assert found(case(before)) == [f"{ANEW}/broker 8"]
    assert found(case(anew(*range(42, 51)), faults=(PAUSE,))) == [f"{ANEW}/broker 8"]
    one_look = (ConnectionSample(0, ONE, {"broker-b": 40}), looks(ONE)[1])
    assert found(case(one_look)) == []


@pytest.mark.parametrize("unseen", [True, False])
def test_a_failed_sample_leaves_new_connections_unjudged(unseen: bool) -> None:
    """If a sample of either arm before the first fault failed, new connections are not judged."""
    assert found(case(anew(1, number=40, unseen=unseen))) == ([] if unseen else [f"{ANEW}/broker 40"])
    assert found(case(anew(1, number=40), anew(1, unseen=unseen))) == ([] if unseen else [f"{ANEW}/broker 40"])
    many = anew(1, number=40)
    last_unseen = (*many[:-1], ConnectionSample(100 * S, None, {}, True))
    assert found(case(last_unseen, faults=(PAUSE,))) == [f"{ANEW}/broker 40"]
    assert found(case((ConnectionSample(0, None, {}), *many[1:]))) == []
    late = anew(1, number=40)[:-1] + anew(60, unseen=True)[1:]
    assert found(case(late, faults=(PAUSE,))) == [f"{ANEW}/broker 40"]


def test_cases_with_a_breach_are_not_judged() -> None:
    """A case in which a subject broke off is not judged."""
    facts = case(looks({"broker-b": 40}))
    breach = {str(BASELINE): Breach("protocol.died", "life", "none")}
    broken = replace(facts, entry=replace(facts.entry, breaches=breach))
    assert outcomes_evaluation.evaluate(broken).divergences == ()
    assert list(paired([broken])) == []


@pytest.mark.parametrize(
    ("ours", "theirs", "named", "more"),
    [
        ({"broker-b": 1}, {"broker-b": 2}, {}, (0, 1)),
        ({"broker-b": 3}, {"broker-b": 2}, {}, (1, 0)),
        ({"broker-b": 2}, {"name-server-1": 2}, {}, None),
        ({"broker-b": 1}, {"broker-b": 2}, {"known": None}, None),
        ({"broker-b": 1}, {"broker-b": 2}, {"failed": 1}, None),
        (None, {"broker-b": 2}, {}, None),
        ({"broker-b": 2}, None, {}, None),
    ],
)
def test_in_which_cases_either_was_left_with_more(
    ours: Held, theirs: Held, named: dict[str, int], more: tuple[int, int] | None
) -> None:
    """The arm with more new connections counts if both were seen and known rules explain none."""
    counts = list(paired([case(looks(theirs), looks(ours), **named)]))  # type: ignore[arg-type]  # names of parameters
    assert [(count.name, count.unit, count.baseline_more, count.candidate_more) for count in counts] == (
        [] if more is None else [(LEFT, "cases", *more)]
    )


def test_cases_are_added_up() -> None:
    """Cases are added up: two with more for the candidate, one for the baseline, one even; eleven to none make evidence."""
    more, less, even = ({"broker-b": 2}, ONE), (ONE, {"broker-b": 2}), (ONE, ONE)
    pool = [case(looks(theirs), looks(ours)) for theirs, ours in (more, less, even, more)]
    (one,) = paired(pool)
    assert (one.baseline_more, one.candidate_more) == (1, 2)
    (evidence,) = outcomes_evaluation.pooled([case(looks({"broker-b": 2}))] * 11)
    assert [(each.name, each.candidate_more) for each in evidence.counts if isinstance(each, PairedCounts)] == [
        (LEFT, 11)
    ]


def test_connections_at_rest_are_a_measure() -> None:
    """An observed arm's connections at rest, to all servers, are a measure."""
    evidence = outcomes_evaluation.evaluate(case(looks({"broker-a": 2, "broker-b": 1}), looks(None)))
    reported = [(measure.name, measure.value, measure.unit, measure.n) for measure in evidence.measures]
    assert reported == [("connections-at-rest candidate", 3, "count", 1)]


@pytest.mark.parametrize(
    ("closes", "known"),
    [(set(), NEVER), ({"RemotingConnectException"}, AFTER_REFUSALS), ({"RemotingTimeoutException"}, AT_TIMES)],
)
def test_failed_attempts_that_may_leave_a_connection_are_counted(closes: set[str], known: str) -> None:
    """Failed attempts that may leave a connection open are counted by arm and broker."""
    ends = ("RemotingTimeoutException", "RemotingConnectException", None)
    attempts = [tried(n * MS, n * MS + 1, end, attempt=n, broker=f"broker-{'abb'[n]}") for n, end in enumerate(ends)]
    send = pair(made(BASELINE, 0, tried(0, 1)), made(CANDIDATE, 0, *attempts))
    facts = facts_of([send], LeftByRule, may_leave_open=lambda error: error in closes)
    reported = {broker: facts.n(BY_RULE, broker, arm=CANDIDATE) for broker in facts.keys(BY_RULE, "candidate")}
    place = {NEVER: {}, AFTER_REFUSALS: {"broker-b": 1}, AT_TIMES: {"broker-a": 1}}
    assert reported == place[known]
    assert facts.keys(BY_RULE, "") == (known,)
    assert facts.keys(BY_RULE, "baseline") == ()
    unknown = facts_of([send], LeftByRule)
    assert unknown.n(BY_RULE) == 0
