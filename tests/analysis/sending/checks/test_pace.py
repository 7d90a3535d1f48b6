"""How much later than the other client's messages of a client may get through."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts, TallyKey
from rocketdiff.analysis.conclusions import case_facts
from rocketdiff.analysis.facts import Tally
from rocketdiff.analysis.sending.case_pass import judge_case
from rocketdiff.analysis.sending.checks.context import CaseContext
from rocketdiff.analysis.sending.checks.results import pace
from rocketdiff.analysis.sending.send_facts import SendFacts
from rocketdiff.analysis.sending.steps.rulebook import Rulebook
from rocketdiff.analysis.summaries import summarise
from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.manifest import ResourceSample
from tests.analysis.builders import ENTRY, MS, SUBJECTS, S, ended
from tests.analysis.synthetic import MANIFEST
from tests.analysis.trace_builders import trace

PERIOD = 10 * MS

OF_BROKER_B = {"episode": 1, "kind": "pause", "node": "broker-b"}

Took = Callable[[int], int]
"""How long the send with this number keeps its thread, in ns."""


def pause(begin_s: float, end_s: float, **others: Any) -> dict[str, Any]:
    begin, end = int(begin_s * S), int(end_s * S)
    began = dict.fromkeys(("inject_ns", "injected_ns", "proven_ns"), begin)
    return OF_BROKER_B | began | dict.fromkeys(("heal_ns", "healed_ns", "heal_proven_ns"), end) | others


def closed_loop(
    took: Took, sends: int = 400, threads: int = 1, since_ns: int = 0, **others: Any
) -> dict[str, list[dict[str, Any]]]:
    """
    The sends of an arm, one due every 10 ms; each thread waits for its last call.

    Every second send goes to broker-b. An asynchronous call keeps its thread for the time given, and is through then.
    """
    free, rows, attempts = [0] * threads, [], []
    for number in range(sends):
        due, thread = since_ns + number * PERIOD, number % threads
        start = max(due, free[thread])
        free[thread] = end = start + took(number)
        broker = "broker-b" if number % 2 else "broker-a"
        times = {"send": number, "thread": thread, "start_ns": start, "end_ns": end, "broker": broker}
        rows.append(times | {"due_ns": due} | others)
        attempts.append(times)
    return {"sends": rows, "attempts": attempts}


def facts_of(baseline: Any, candidate: Any, *faults: dict[str, Any], waited_ns: int = 0) -> CaseFacts:
    """waited_ns: time in which the candidate's threads had no core."""
    settings = replace(ENTRY.settings, send_msg_timeout_ms=300)
    samples = tuple(ResourceSample(at_ns, 30, 0, 0, 9, waited) for at_ns, waited in ((0, 0), (4 * S, waited_ns)))
    entry = replace(ENTRY, sends_planned=400, origin_ns=0, settings=settings, resources={"candidate": samples})
    arms = {"baseline": baseline, "candidate": candidate}
    tables = {f"{name}_{arm}": rows for arm, each in arms.items() for name, rows in each.items()}
    case = trace(entry, **tables, faults=list(faults))
    manifest = replace(MANIFEST, run="r1", subjects=SUBJECTS, cases=(entry,))
    (facts,) = case_facts([manifest], summarise(judge_case(case, wanted=[pace.NAME])))
    return facts


def signatures(facts: CaseFacts) -> list[str]:
    return [one.signature for each in facts.divergences.values() for one in each]


def test_examples_of_a_slower_client() -> None:
    """The example is the send that took longest, with both medians of the worst moment and the limit."""
    facts = facts_of(closed_loop(usual), closed_loop(SLOWER["stands still for a second and a half"]))
    ((one,),) = facts.divergences.values()
    assert (one.subject, one.example.where.number, one.example.where.thread) == ("python:5.3.3", 100, 0)
    assert one.example.phase == "calm"
    assert one.example.expected.endswith("worst moment a median of 2.0 ms, three times that and 10 ms are allowed")
    assert one.example.observed == "more in 8 of 16 moments (the baseline in 0), a median of 1,404.0 ms in the worst"
    facts = facts_of(closed_loop(usual), closed_loop(SLOWER["never over fifty sends a second"]))
    texts = {
        one.signature: (one.example.expected, one.example.observed)
        for each in facts.divergences.values()
        for one in each
    }
    assert texts["pace.slower/delay"][0].endswith("three times that and 10 ms are allowed")
    assert texts["pace.slower/all-sends"] == ("all sends through in little more than the baseline's 4.1 s", "8.0 s")


@pytest.mark.parametrize("time", ["delay", "duration", "start", "all-sends"])
@pytest.mark.parametrize(
    ("samples", "is_starved"),
    [
        ([(0, 0), (4 * S, 500)], True),
        ([(0, 0), (4 * S, 499)], False),
        ([(0, 0), (2 * S, 100), (4 * S, 600), (5 * S, 9_000)], True),
        ([(0, 0), (2 * S, 101), (4 * S, 600), (5 * S, 9_000)], False),
        ([(2 * S + 1, 100), (3 * S, 101), (4 * S - 2, 599), (4 * S - 1, 600)], True),
        ([(2 * S + 1, 101), (3 * S, 100), (4 * S - 2, 600), (4 * S - 1, 600)], False),
        ([(0, None), (S, 0), (4 * S, 500), (4 * S, None)], True),
        ([(0, None), (4 * S, None)], False),
        ([], False),
    ],
)
def test_threads_that_waited_for_a_core(samples: list[tuple[int, int | None]], is_starved: bool, time: str) -> None:
    """From the last sample before the lost second to the first one after it they must have waited half a second."""
    each = tuple(ResourceSample(at_ns, 30, 0, 0, 9, None if ms is None else ms * MS) for at_ns, ms in samples)
    lost = {"lost-ms": 1_000.0, "since-ns": 2.0 * S, "until-ns": 4.0 * S}
    tallies = {("pace", "candidate", time, key): (1, total) for key, total in lost.items()}
    facts = CaseFacts("r1", SUBJECTS, replace(ENTRY, resources={"candidate": each}), tallies=tallies)
    reason = "python:5.3.3 lost 1.0 s, but its threads had no core for 0.5 s meanwhile: the machine may be the cause"
    assert (pace.evaluate(facts).reason == reason) is is_starved
    for missing in tallies:
        kept = {key: tally for key, tally in tallies.items() if key != missing}
        assert "no core" not in pace.evaluate(replace(facts, tallies=kept)).reason


def usual(number: int) -> int:
    """From 1 to 3 ms, and a stall of 100 ms now and then."""
    return 100 * MS if number % 130 == 7 else (1 + number % 3) * MS


SLOWER = {
    "each send 0.1 ms slower than the last": lambda n: usual(n) + n * MS // 10,
    "never over fifty sends a second": lambda _: 20 * MS,
    "15 ms more": lambda n: usual(n) + 15 * MS,
    "slow after half of the case": lambda n: usual(n) + (20 * MS if n > 200 else 0),
    "one send in five takes 120 ms": lambda n: 120 * MS if n % 5 == 0 else usual(n),
    "stands still for a second and a half": lambda n: 1_500 * MS if n == 100 else usual(n),
}
"""Defects of a client, by how long its sends take."""

AS_FAST = {
    "equal": usual,
    "1 ms more": lambda n: usual(n) + MS,
    "twice as long": lambda n: usual(n) + (1 + n % 3) * MS,
    "a stall of half a second": lambda n: 500 * MS if n == 100 else usual(n),
    "four stalls of 200 ms": lambda n: 200 * MS if n % 100 == 50 else usual(n),
    "slow for the first half of a second": lambda n: usual(n) + (20 * MS if n < 30 else 0),
    "faster": lambda _: MS,
}
"""What a machine or a language does to a faithful client."""


@pytest.mark.parametrize("defect", SLOWER)
def test_a_slower_client_diverges(defect: str) -> None:
    """A client whose messages are late in over a quarter of a calm case diverges, exit code 1."""
    facts = facts_of(closed_loop(usual), closed_loop(SLOWER[defect]))
    assert "pace.slower/delay" in signatures(facts)
    result, code = ended(pace.evaluate(facts))
    assert (result.verdict, code) == (Verdict.DIVERGES, ExitCode.DIVERGES)


@pytest.mark.parametrize("story", AS_FAST)
def test_a_client_as_fast_conforms(story: str) -> None:
    """Single stalls, a slow begin and the ordinary difference of two languages conform."""
    facts = facts_of(closed_loop(usual), closed_loop(AS_FAST[story]))
    evidence = pace.evaluate(facts)
    result, code = ended(evidence)
    assert (signatures(facts), result.verdict, code) == ([], Verdict.CONFORMS, ExitCode.CONFORMS)
    assert evidence.reason == ""


@pytest.mark.parametrize(("waited_ms", "verdict"), [(2_900, Verdict.DIVERGES), (3_000, Verdict.INVALID)])
def test_a_client_without_a_core_is_not_slow(waited_ms: int, verdict: Verdict) -> None:
    """A client that lost 6 s in 400 sends may be as fast as the other if its threads waited for a core for half of them."""
    slow = closed_loop(SLOWER["15 ms more"])
    found = ended(pace.evaluate(facts_of(closed_loop(usual), slow, waited_ns=waited_ms * MS)))[0]
    assert found.verdict is verdict


def test_a_faster_candidate_conforms() -> None:
    """The slower client may be the baseline."""
    facts = facts_of(closed_loop(SLOWER["15 ms more"], since_ns=7 * S), closed_loop(usual, since_ns=7 * S))
    assert signatures(facts) == []
    assert [(one.name, one.value, one.unit) for one in pace.evaluate(facts).measures] == [
        ("time-for-all-sends baseline", 7.191, "s"),
        ("median-delay-in-calm baseline", 1608.4375, "ms"),
        ("time-for-all-sends candidate", 4.074, "s"),
        ("median-delay-in-calm candidate", 2.3125, "ms"),
    ]


def test_a_client_without_a_send_is_not_compared() -> None:
    """Nor is the other."""
    nothing: dict[str, list[Any]] = {"sends": [], "attempts": []}
    for arms in ((closed_loop(usual), nothing), (nothing, closed_loop(usual))):
        assert signatures(facts_of(*arms)) == []


def test_two_clients_behind_their_plan_conform() -> None:
    """On a machine that is too slow for the plan both get further behind, one by twice as much."""
    facts = facts_of(closed_loop(lambda _: 20 * MS), closed_loop(lambda _: 30 * MS))
    assert signatures(facts) == []


def blocked(number: int, more: int = 0) -> int:
    """Sends to broker-b wait for the end of its pause from 1 to 1.2 s, at most 300 ms."""
    return 180 * MS if number == 101 else usual(number) + more


@pytest.mark.parametrize(
    ("more_ns", "found"),
    [(0, []), (100 * MS, ["pace.slower/duration"]), (3 * MS, [])],
)
def test_sends_beside_a_fault(more_ns: int, found: list[str]) -> None:
    """After a pause, sends to brokers without a fault take as long as the other client's; 100 ms more are found."""
    slow = closed_loop(lambda n: blocked(n, more_ns if 100 < n < 150 else 0))
    facts = facts_of(closed_loop(blocked), slow, pause(1.0, 1.2))
    assert signatures(facts) == found
    assert facts.mean("pace", "since-ns", phase="duration") == (S if found else None)


def test_sends_beside_a_fault_without_a_core_are_not_slow() -> None:
    """Fifty sends that took 100 ms longer, while the threads waited for a core for 4 s."""
    slow = closed_loop(lambda n: blocked(n, 100 * MS if 100 < n < 150 else 0))
    facts = facts_of(closed_loop(blocked), slow, pause(1.0, 1.2), waited_ns=4 * S)
    assert ended(pace.evaluate(facts))[0].verdict is Verdict.INVALID


def test_lateness_of_a_blocked_thread_is_no_difference() -> None:
    """A thread that met a pause, as the other client's did not, is late for a second."""
    slow = closed_loop(lambda n: 900 * MS if n == 101 else usual(n))
    assert signatures(facts_of(closed_loop(usual), slow, pause(1.0, 2.0))) == []


def test_a_thread_that_waits_for_a_name_server_is_late() -> None:
    """A client that knows its topic does not wait for a paused name server."""
    slow = closed_loop(lambda n: 1_800 * MS if n == 101 else usual(n))
    facts = facts_of(closed_loop(usual), slow, pause(1.0, 3.0, kind="pause-name-server", node="name-server-1"))
    assert signatures(facts) == ["pace.slower/delay"]


@pytest.mark.parametrize("mode", ["async", "oneway"])
def test_calls_that_do_not_wait_start_on_time(mode: str) -> None:
    """An asynchronous call that waits for its answer makes the next one late, also under a pause."""
    facts = facts_of(
        closed_loop(lambda _: MS, mode=mode),
        closed_loop(lambda n: 120 * MS if n % 2 and 100 < n < 130 else MS, mode=mode),
        pause(1.0, 4.0),
    )
    assert signatures(facts) == ["pace.slower/start"]


def test_all_sends_take_far_longer() -> None:
    """Under pauses from begin to end nothing else can be compared: 400 sends in 4 s by one client and in 12 s by the other."""
    faults = [pause(0.0, 4.0), pause(0.0, 4.0, node="broker-a", episode=2)]
    facts = facts_of(closed_loop(usual), closed_loop(lambda _: 30 * MS), *faults)
    assert signatures(facts) == ["pace.slower/all-sends"]
    assert ended(pace.evaluate(facts))[1] is ExitCode.DIVERGES


UNCALLED = {"error": "NeverCalledBack", "outcome": "unknown", "status": None}


def test_a_callback_that_never_came_makes_no_case_longer() -> None:
    """The end of such a call is when its driver stopped waiting; the check ``callbacks`` judges it."""
    late = closed_loop(usual)
    late["sends"][100] |= {"end_ns": 20 * S} | UNCALLED
    assert signatures(facts_of(closed_loop(usual), late, pause(0.0, 4.0))) == []
    none = {"sends": [row | UNCALLED for row in late["sends"]], "attempts": late["attempts"]}
    assert signatures(facts_of(closed_loop(usual), none, pause(0.0, 4.0))) == []


@pytest.mark.parametrize(("moments", "verdict"), [(4, Verdict.NOT_APPLICABLE), (5, Verdict.CONFORMS)])
def test_five_moments_show_a_pace(moments: int, verdict: Verdict) -> None:
    """Fewer cannot be slow in enough of them; the measures are of all sends."""
    tallies: dict[TallyKey, tuple[int, float]] = {("pace", arm, "delay", "moments"): (moments, 9.0) for arm in SUBJECTS}
    for arm, n in zip(SUBJECTS, (40, 30), strict=True):
        tallies |= {("sends", arm, "calm", "ok"): (n, 0.0), ("pace", arm, "", "span-s"): (1, 4.0)}
    evidence = pace.evaluate(CaseFacts("r1", SUBJECTS, ENTRY, tallies=tallies))
    assert ended(evidence)[0].verdict is verdict
    assert [one.n for one in evidence.measures] == [40, 40, 30, 30]


def test_a_short_case_shows_no_pace() -> None:
    """In less than a second of sends nothing is compared."""
    facts = facts_of(closed_loop(usual, 60), closed_loop(usual, 60))
    assert ended(pace.evaluate(facts))[0].verdict is Verdict.NOT_APPLICABLE


def losses(
    time: str, baseline: Any, candidate: Any, *faults: dict[str, Any]
) -> tuple[dict[tuple[str, str], float], list[tuple[int, int]]]:
    """Tallies of a time, by arm and key, and the differences: send and instant."""
    settings = replace(ENTRY.settings, send_msg_timeout_ms=300, retry_times_when_send_async_failed=0)
    arms = {"baseline": baseline, "candidate": candidate}
    tables = {f"{name}_{arm}": rows for arm, each in arms.items() for name, rows in each.items()}
    case = trace(replace(ENTRY, settings=settings), **tables, faults=list(faults))
    collector = SendFacts("r1", 1, 0)
    pace.Pace(CaseContext(case, Rulebook({}), collector)).finish()
    tallies = [each.fact for each in collector.facts() if isinstance(each.fact, Tally) and each.fact.phase == time]
    counts = {(one.arm, one.key): one.total or float(one.n) for one in tallies}
    return counts, [(one.send, one.at_ns) for one in collector.differences()]


@pytest.mark.parametrize(("more_ns", "is_longer"), [(0, False), (1, True)])
def test_when_all_sends_take_far_longer(more_ns: int, is_longer: bool) -> None:
    """Half as long again as 1 s, and three timeouts of 300 ms. The example is the call that took longest."""

    def two(first_ms: int, second_ms: int, more_ns: int = 0) -> dict[str, Any]:
        ends = 7 * S + first_ms * MS + more_ns, 7 * S + second_ms * MS
        times = zip((7 * S, 7 * S + 900 * MS), ends, strict=True)
        rows = [{"send": n, "due_ns": due, "start_ns": due, "end_ns": end} for n, (due, end) in enumerate(times)]
        return {"sends": rows, "attempts": [{"send": 0}, {"send": 1}]}

    counts, found = losses("all-sends", two(400, 1_000), two(2_400, 2_300, more_ns))
    times = {
        "lost-ms": 3_300 + 1e-6,
        "since-ns": 7 * S,
        "until-ns": 9_400 * MS + 1,
    }  # 2.4 s and 1.4 s, not 0.4 s and 0.1 s
    assert counts == pytest.approx({("candidate", key): time for key, time in times.items()} if is_longer else {})
    assert found == ([(0, 7 * S)] if is_longer else [])


def test_how_far_a_client_is_behind() -> None:
    """
    A call of 1.5 s fails, and the next is due 10 ms later.

    Then each call begins 8 ms less late. Of 24 in the quarter of a second the median is late by 1,400 ms, 1,398 ms more
    than the other client's; the last of seven such moments ends after 2.75 s.
    """
    late = closed_loop(lambda n: (1_500 if n == 100 else 2) * MS, since_ns=7 * S)
    late["sends"][100] |= {"error": "RemotingTimeoutException", "outcome": "unknown", "status": None}
    counts, found = losses("delay", closed_loop(lambda _: 2 * MS, since_ns=7 * S), late)
    assert {key: of for key, of in counts.items() if key[1] != "moments"} == {
        ("baseline", "slow"): 0,
        ("candidate", "slow"): 7,
        ("candidate", "lost-ms"): 1_398,
        ("candidate", "since-ns"): 7 * S,
        ("candidate", "until-ns"): 9_750 * MS,
    }
    assert found == [(101, 9_500 * MS)]


@pytest.mark.parametrize(("begin_ns", "counts"), [(20 * MS, {}), (20 * MS + 1, {("candidate", "moments"): 2.0})])
def test_a_send_that_is_due_as_a_fault_begins_is_not_calm(begin_ns: int, counts: dict[tuple[str, str], float]) -> None:
    """The third of three sends of 2 ms, of which a moment needs three."""
    fault = OF_BROKER_B | dict.fromkeys(("inject_ns", "injected_ns", "proven_ns"), begin_ns)
    three = closed_loop(lambda _: 2 * MS, 3)
    found, _ = losses("delay", three, three, fault)
    assert {key: of for key, of in found.items() if key == ("candidate", "moments")} == counts
