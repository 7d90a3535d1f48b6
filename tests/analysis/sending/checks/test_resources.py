"""Growth of a client's process, and its idleness at rest, from both sides of each limit and to the exit code."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pyarrow as pa
import pytest

from rocketdiff.analysis.checks import resources
from rocketdiff.analysis.checks.case_facts import CaseFacts, TallyKey
from rocketdiff.analysis.checks.resources import AT_ONCE
from rocketdiff.analysis.facts import Tally
from rocketdiff.analysis.sending.checks.results.resources import SendsAtOnce
from rocketdiff.core.answers.evidence import Standing
from rocketdiff.core.answers.verdict import Example
from rocketdiff.core.answers.where import NOWHERE
from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.consuming.plan import MemberChange, MemberEvent
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.run_info import Guard
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.traces.manifest import Breach, CaseStatus, ConnectionSample, GroupEntry, ResourceSample
from rocketdiff.traces.schema import TableName
from tests.analysis.builders import ENTRY, MS, SUBJECTS, S, context_of, ended, fault

BASELINE, CANDIDATE = Arm.BASELINE, Arm.CANDIDATE

MIB = 1 << 20

Samples = tuple[ResourceSample, ...]
Use = Callable[[float], float] | float
"""What a process holds or has used: always, or by seconds since the first send was due."""

PAUSES = (fault(2 * S, 3 * S), fault(6 * S, 7 * S, episode=2))


def at(use: Use, seconds: float, scale: int = 1) -> int:
    return round(scale * (use(seconds) if callable(use) else use))


def from_fault_on(level: float, more: float) -> Use:
    """As much more at the end of each of the two pauses, and kept."""
    return lambda seconds: level + more * ((seconds >= 3) + (seconds >= 7)) / 2


def samples(
    threads: Use = 30,
    cpu_s: Use = 4,
    mib: Use = 120,
    files: Use = 118,
    waited_s: Use | None = 1,
    at_rest: int = 6,
) -> Samples:
    """Two samples a second until 10 s; then at rest, a quarter of a second apart."""
    at_s = [-0.2, *(number / 2 for number in range(20)), *(10 + number / 4 for number in range(at_rest))]
    return tuple(
        ResourceSample(
            round(seconds * S),
            at(threads, seconds),
            at(cpu_s, seconds, S),
            at(mib, seconds, MIB),
            at(files, seconds),
            None if waited_s is None else at(waited_s, seconds, S),
            seconds >= 10,
        )
        for seconds in at_s
    )


CALM_CLIENT = samples()


def case(
    candidate: Samples,
    baseline: Samples = CALM_CLIENT,
    faults: Sequence[FaultRecord] = PAUSES,
    at_once: int = 1,
    **entry: object,
) -> CaseFacts:
    used = {BASELINE: baseline, CANDIDATE: candidate}
    changes = {"origin_ns": 0, "duration_s": 10.0, "resources": used} | entry
    whole = replace(ENTRY, **changes)  # type: ignore[arg-type]  # names of fields
    most = {BASELINE: 1, CANDIDATE: at_once}
    tallies: dict[TallyKey, tuple[int, float]] = {(AT_ONCE, arm, "", "sends"): (n, 0.0) for arm, n in most.items()}
    return CaseFacts("r1", SUBJECTS, whole, tallies=tallies, faults=tuple(faults))


def found(facts: CaseFacts) -> list[str]:
    """Signatures with counts; the exit code must match."""
    evidence = resources.evaluate(facts)
    _, code = ended(evidence)
    assert code is (ExitCode.DIVERGES if evidence.divergences else ExitCode.CONFORMS)
    return [f"{one.signature.removeprefix('resources.')} {one.count}" for one in evidence.divergences]


def works_after(since_s: float, share: float) -> Use:
    """For seven seconds."""
    return lambda seconds: 4 + share * min(7, max(0, seconds - since_s))


def spins(since_s: float, share: float = 1.0) -> Use:
    return lambda seconds: 4 + share * max(0.0, seconds - since_s)


THREADS, FILES, MEMORY, BUSY = "threads-grow", "files-grow", "memory-grows 1", "busy-at-rest 1"
GROWS = "processor-grows 1"

DEFECTS: dict[str, tuple[Samples, list[str]]] = {
    "a thread per failed send": (samples(threads=from_fault_on(30, 16)), [f"{THREADS} 16"]),
    "a thread per send": (samples(threads=lambda seconds: 30 + 100 * max(0.0, min(seconds, 10))), [f"{THREADS} 850"]),
    "a thread that spins after the first failure": (samples(cpu_s=spins(3)), [BUSY]),
    "a loop that polls": (samples(cpu_s=spins(3, 0.36)), [BUSY]),
    "a spinning thread that gets a seventh of a core": (
        samples(cpu_s=spins(3, 0.15), waited_s=spins(3, 0.85)),
        [BUSY],
    ),
    "a spinning thread that gets a tenth of a core": (
        samples(cpu_s=spins(3, 0.1), waited_s=spins(3, 0.9)),
        [BUSY],
    ),
    "a loop that wants three tenths of a core": (samples(cpu_s=spins(3, 0.3)), [BUSY]),
    "at work from half a second on, which an interval that ends with the calm does not show": (
        samples(cpu_s=lambda seconds: 4 + min(9.5, max(0, seconds - 0.5))),
        [GROWS],
    ),
    "busy after each failure, where every second sample of the use failed": (
        tuple(
            replace(one, cpu_ns=None) if 2 * S < one.at_ns < 9 * S and one.at_ns % S else one
            for one in samples(cpu_s=lambda s: 4 + min(7, max(0, s - 3)))
        ),
        [GROWS],
    ),
    "a descriptor per send": (samples(files=lambda seconds: 118 + 100 * max(0.0, min(seconds, 10))), [f"{FILES} 850"]),
    "a descriptor per failed send": (samples(files=from_fault_on(118, 16)), [f"{FILES} 16"]),
    "all bodies kept, of 1 MiB": (samples(mib=lambda seconds: 120 + 100 * max(0.0, min(seconds, 10))), [MEMORY]),
    "busy for a while after each failure": (samples(cpu_s=lambda s: 4 + min(6, max(0, s - 3))), [GROWS]),
    "longer at work with each send": (samples(cpu_s=lambda s: 4 + 0.05 * min(10, s) ** 2), [GROWS]),
    "all at once": (
        samples(from_fault_on(30, 16), spins(3), from_fault_on(120, 600), from_fault_on(118, 16)),
        [f"{THREADS} 16", f"{FILES} 16", MEMORY, BUSY],
    ),
}

FAITHFUL: dict[str, Samples] = {
    "nothing grows": CALM_CLIENT,
    "pools that start in the first second": samples(threads=lambda seconds: 30 if seconds < 0.9 else 60),
    "pools that start in the first second, and one that starts late": samples(
        threads=lambda seconds: 30 if seconds < 0.9 else 60 if seconds < 3 else 65
    ),
    "first read twice when a fault is in force": samples()[7:],
    "three tenths of a core more at work than in the calm": samples(
        cpu_s=lambda s: 4 + 0.3 * min(8, max(0, s - 2)), waited_s=0
    ),
    "pools that start late": samples(threads=from_fault_on(30, 5)),
    "a thread per failed send that ends": samples(threads=lambda seconds: 46 if 3 <= seconds < 10 else 30),
    "more threads, ended at the second sample at rest": samples(threads=lambda s: 60 if 3 <= s < 10.2 else 30),
    "another level of everything": samples(400, spins(0, 0.2), 4_000, 5_000),
    "busy in two seconds of eight": samples(cpu_s=lambda seconds: 4 + min(2, max(0, seconds - 3))),
    "busy in the beginning": samples(cpu_s=lambda seconds: 4 + min(3, 2 * seconds)),
    "a compiler at work for one second at rest": samples(cpu_s=lambda seconds: 4 + min(1, max(0, seconds - 10))),
    "threads that wait for a core and hardly use it": samples(cpu_s=spins(3, 0.05), waited_s=spins(3, 0.9)),
    "a heap that fills": samples(mib=from_fault_on(120, 250)),
    "jars and event loops opened late": samples(files=from_fault_on(118, 13)),
    "a loop where waiting is unknown, at a quarter of a core": samples(cpu_s=spins(3, 0.25), waited_s=None),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_leak_or_a_spinning_thread_ends_in_exit_code_1(name: str) -> None:
    """Each leak and each busy loop diverges, as the candidate's alone."""
    candidate, wanted = DEFECTS[name]
    assert found(case(candidate)) == wanted
    assert found(case(CALM_CLIENT, candidate)) == []


@pytest.mark.parametrize("name", FAITHFUL)
def test_ordinary_differences_of_processes_conform(name: str) -> None:
    """Levels, pools, late starts, garbage and work that ends are ordinary, in either arm."""
    assert found(case(FAITHFUL[name])) == []
    assert found(case(CALM_CLIENT, FAITHFUL[name])) == []


@pytest.mark.parametrize("name", DEFECTS)
def test_growth_of_both_clients_is_no_difference(name: str) -> None:
    """A candidate that grows, or spins, as the baseline does conforms."""
    candidate, _ = DEFECTS[name]
    assert found(case(candidate, candidate)) == []


@pytest.mark.parametrize(
    ("grown", "by_baseline", "at_once", "wanted"),
    [
        (5, 0, 1, []),
        (6, 0, 1, [f"{THREADS} 6"]),
        (9, 2, 1, []),
        (10, 2, 1, [f"{THREADS} 10"]),
        (5, -4, 1, []),
        (6, -4, 1, [f"{THREADS} 6"]),
        (94, 0, 90, []),
        (95, 0, 90, [f"{THREADS} 95"]),
    ],
)
def test_how_many_threads_are_ordinary(grown: int, by_baseline: int, at_once: int, wanted: list[str]) -> None:
    """Ordinary are four threads, one for each send that was under way at once, and twice the baseline's growth."""
    candidate, baseline = (samples(threads=from_fault_on(30, more)) for more in (grown, by_baseline))
    assert found(case(candidate, baseline, at_once=at_once)) == wanted


@pytest.mark.parametrize(
    ("mib", "by_baseline", "wanted"), [(256, 0, []), (257, 0, [MEMORY]), (356, 50, []), (357, 50, [MEMORY])]
)
def test_how_much_memory_is_ordinary(mib: int, by_baseline: int, wanted: list[str]) -> None:
    """Ordinary are 256 MiB, and twice the baseline's growth."""
    candidate, baseline = (samples(mib=from_fault_on(120, more)) for more in (mib, by_baseline))
    assert found(case(candidate, baseline)) == wanted


@pytest.mark.parametrize(
    ("held", "wanted"),
    [((2, 2, 2), [f"{FILES} 16"]), ((2, 9, 5), []), ((2, 5, 5), []), ((2, 4, 4), [f"{FILES} 14"]), ((2, None, 2), [])],
)
def test_connections_to_servers_are_not_counted_as_files(held: Sequence[int | None], wanted: list[str]) -> None:
    """Connections are another check's question; where they cannot be read, files are not judged."""
    seen = tuple(
        ConnectionSample(number * S, None if each is None else {"broker-a": each}, {})
        for number, each in enumerate(held)
    )
    assert found(case(samples(files=from_fault_on(118, 16)), connections={CANDIDATE: seen})) == wanted


@pytest.mark.parametrize("arm", [BASELINE, CANDIDATE])
def test_files_are_not_compared_if_the_connections_of_an_arm_are_unknown(arm: Arm) -> None:
    """Its threads still are."""
    unread = {arm: (ConnectionSample(0, None, {}),)}
    facts = case(samples(threads=from_fault_on(30, 16), files=from_fault_on(118, 16)), connections=unread)
    assert found(facts) == [f"{THREADS} 16"]


def test_growth_without_faults_counts_from_the_first_third_on() -> None:
    """Without faults a leak goes on after the first third of the case; what starts in it is ordinary."""
    early = samples(threads=lambda seconds: 30 + 20 * (seconds > 2.5))
    late = samples(threads=lambda seconds: 30 + 20 * (seconds > 3.0))
    assert found(case(early, faults=())) == []
    assert found(case(late, faults=())) == [f"{THREADS} 20"]
    assert found(case(late, faults=(), origin_ns=S)) == []
    hurried = (
        replace(one, at_ns=one.at_ns // 20) for one in samples(threads=lambda seconds: 30 + 20 * (seconds >= 10))
    )
    assert found(case(tuple(hurried), faults=(), duration_s=0.5)) == [f"{THREADS} 20"]


@pytest.mark.parametrize(
    ("since_s", "wanted"), [(0.4, []), (0.9, [f"{THREADS} 20"])], ids=["in the first second", "after it"]
)
def test_pools_may_start_in_the_first_second_beside_a_fault(since_s: float, wanted: list[str]) -> None:
    """What starts in the first second is ordinary even if a fault began in it; the last sample of that second is at 0.5 s."""
    grown = samples(threads=lambda seconds: 30 + 20 * (seconds > since_s))
    assert found(case(grown, faults=(fault(S // 5, 2 * S),))) == wanted


@pytest.mark.parametrize(("from_ms", "wanted"), [(5_500, [GROWS]), (5_501, [])])
def test_work_is_compared_over_eight_intervals(from_ms: int, wanted: list[str]) -> None:
    """Eight intervals of half a second between calm and rest show a growth of work, seven do not."""
    busy = samples(cpu_s=lambda seconds: 4 + max(0, min(seconds, 9.8) - 5.5))
    assert found(case(busy, faults=(fault(from_ms * MS, 7 * S),))) == wanted


def test_growth_and_use_at_rest_are_measured() -> None:
    """What each process grew by, and the share of a core that it used at rest, are measured."""
    grown = samples(from_fault_on(30, 3), spins(3, 0.9), from_fault_on(120, 40), from_fault_on(118, 2))
    evidence = resources.evaluate(case(grown))
    assert evidence.decisions == 8
    assert {one.name: (one.value, one.unit, one.n) for one in evidence.measures} == {
        **{f"{each}-grown baseline": (0, unit, 1) for each, unit in UNITS.items()},
        "processor-at-rest baseline": (0, "%", 1),
        "threads-grown candidate": (3, "count", 1),
        "files-grown candidate": (2, "count", 1),
        "memory-grown candidate": (40, "MiB", 1),
        "processor-at-rest candidate": (90, "%", 1),
    }


UNITS = {"threads": "count", "files": "count", "memory": "MiB"}


def test_five_samples_at_rest_are_enough() -> None:
    """Four intervals at rest decide."""
    assert resources.evaluate(case(samples(at_rest=5))).standing is Standing.DECISIVE


def test_a_difference_is_worded_with_both_clients() -> None:
    """A difference states the limit, the baseline's growth, the candidate's, and its level."""
    (grown, busy) = resources.evaluate(case(samples(from_fault_on(30, 16), spins(3)))).divergences
    assert grown.example is not None
    assert busy.example is not None
    assert grown.example.expected == "at rest at most 5 threads more than before the first fault; java:5.3.3 has +0"
    assert grown.example.observed == "16 threads more, and 46 in all"
    assert (
        busy.example.expected
        == "an idle process when everything is done and faults are over; java:5.3.3 uses 0 % of a core"
    )
    (memory,) = resources.evaluate(case(samples(mib=from_fault_on(120, 300)))).divergences
    assert memory.example is not None
    assert memory.example.observed == "300 MiB more, and 420 in all"
    heap, usual_heap = (samples(mib=from_fault_on(120, more)) for more in (300, 20))
    (memory,) = resources.evaluate(case(heap, usual_heap)).divergences
    assert memory.example.expected == "at rest at most 296 MiB more than before the first fault; java:5.3.3 has +20"
    assert memory.subject == SUBJECTS[CANDIDATE]
    fewer = samples(threads=lambda s: 30 if s < 3 else 60 if s < 10 else 50 + 8 * (11.25 - s))
    (threads,) = resources.evaluate(case(fewer)).divergences
    assert threads.example.observed == "20 threads more, and 50 in all"
    calmer = samples(cpu_s=lambda s: spins(3, 0.5)(s) + 0.5 * max(0, min(s, 10.5) - 10))  # type: ignore[operator]
    (busy_at_first,) = resources.evaluate(case(calmer)).divergences
    assert busy_at_first.example.observed == "70 % of a core for 1.2 s, and never less than 50 % used or waited for"
    assert busy.example.observed == "100 % of a core for 1.2 s, and never less than 100 % used or waited for"
    busier, busy_too = (lambda s: 4 + 1.6 * min(6, max(0, s - 3))), (lambda s: 4 + 0.6 * min(6, max(0, s - 3)))
    (processor,) = resources.evaluate(case(samples(cpu_s=busier), samples(cpu_s=busy_too))).divergences
    assert processor.example == Example(
        NOWHERE,
        "rest",
        "at most 150 % of a core more than before the first fault; java:5.3.3 uses +60 %",
        "160 % of a core more in most of the case",
    )


GONE = ResourceSample(11 * S, is_at_rest=True)


@pytest.mark.parametrize(
    ("used", "standing", "reason"),
    [
        ({}, Standing.NOT_APPLICABLE, "no samples"),
        ({BASELINE: CALM_CLIENT}, Standing.INDECISIVE, "python:5.3.3 could not be read"),
        ({BASELINE: CALM_CLIENT, CANDIDATE: (*CALM_CLIENT, GONE)}, Standing.INDECISIVE, "python:5.3.3"),
        ({BASELINE: CALM_CLIENT, CANDIDATE: (ResourceSample(0, 8, 1, 1), *CALM_CLIENT)}, Standing.INDECISIVE, "python"),
        ({BASELINE: samples(at_rest=4), CANDIDATE: CALM_CLIENT}, Standing.INDECISIVE, "java:5.3.3"),
        ({BASELINE: (ResourceSample(0), *CALM_CLIENT), CANDIDATE: CALM_CLIENT}, Standing.INDECISIVE, "java:5.3.3"),
    ],
)
def test_a_process_that_was_not_read_is_not_judged(used: object, standing: Standing, reason: str) -> None:
    """A run without samples has no answer; a process that was not read to the end leaves the question open."""
    evidence = resources.evaluate(case((), resources=used, origin_ns=0 if used else None))
    assert (evidence.standing, evidence.divergences) == (standing, ())
    assert reason in evidence.reason


@pytest.mark.parametrize(
    ("entry", "standing"),
    [
        ({"breaches": {"candidate": Breach("protocol.died", "", "")}}, Standing.INDECISIVE),
        ({"guards": (Guard("cluster", False, "two brokers", "one"),)}, Standing.INVALID),
        ({"status": CaseStatus.ABORTED}, Standing.INVALID),
    ],
)
def test_half_a_case_is_not_decisive(entry: dict[str, object], standing: Standing) -> None:
    """A client that broke off, a broken guard and an aborted case decide nothing."""
    assert resources.evaluate(case(CALM_CLIENT, **entry)).standing is standing  # type: ignore[arg-type]  # names of fields


JOINS, LEAVES = (MemberEvent(5.0, 1, change) for change in (MemberChange.JOIN, MemberChange.LEAVE))


def of_group(
    candidate: Sequence[Samples], baseline: Sequence[Samples] = (CALM_CLIENT, CALM_CLIENT), **entry: object
) -> CaseFacts:
    """A case in which groups of two members are paused twice by a broker."""
    both = {Arm.BASELINE: baseline, Arm.CANDIDATE: candidate}
    used = {str(Member(arm, number)): each for arm, own in both.items() for number, each in enumerate(own)}
    groups = {arm: replace(GroupEntry("g", 2), **entry) for arm in Arm}  # type: ignore[arg-type]  # names of fields
    return case((), resources=used, role=ClientRole.CONSUMER, groups=groups)


FILLED_BY_A_FAULT = samples(from_fault_on(30, 20))

GROUPS: dict[str, tuple[CaseFacts, list[str]]] = {
    "nothing grows": (of_group((CALM_CLIENT, CALM_CLIENT)), []),
    "a fault fills the pool of a member": (of_group((CALM_CLIENT, FILLED_BY_A_FAULT)), []),
    "a fault fills the pool of a member, with four threads of another": (
        of_group((CALM_CLIENT, samples(from_fault_on(30, 25)))),
        [],
    ),
    "a leak of a member whose pool is full, beside one whose pool a fault fills": (
        of_group((samples(lambda seconds: 30 if seconds < 0 else 50 if seconds < 3 else 60), FILLED_BY_A_FAULT)),
        [f"{THREADS} 10"],
    ),
    "one thread more than both": (of_group((CALM_CLIENT, samples(from_fault_on(30, 26)))), [f"{THREADS} 26"]),
    "a pool of two threads cannot need so many": (
        of_group((CALM_CLIENT, FILLED_BY_A_FAULT), settings={"consume_thread_max": 2}),
        [f"{THREADS} 20"],
    ),
    "a thread for each message that comes again": (
        of_group((samples(from_fault_on(30, 30)), CALM_CLIENT)),
        [f"{THREADS} 30"],
    ),
    "a descriptor for each connection that is made anew, at the other group too": (
        of_group(
            (samples(files=from_fault_on(118, 30)), CALM_CLIENT), (CALM_CLIENT, samples(files=from_fault_on(118, 10)))
        ),
        [],
    ),
    "a descriptor for each connection that is made anew": (
        of_group((CALM_CLIENT, samples(files=from_fault_on(118, 30)))),
        [f"{FILES} 30"],
    ),
    "a member that asks in a loop when nothing comes": (of_group((CALM_CLIENT, samples(cpu_s=spins(3)))), [BUSY]),
    "a member of each group that asks in a loop": (
        of_group((CALM_CLIENT, samples(cpu_s=spins(3))), (samples(cpu_s=spins(3)), CALM_CLIENT)),
        [],
    ),
    "a loop while a broker is away": (
        of_group((samples(cpu_s=lambda s: 4 + min(6, max(0, s - 3))), CALM_CLIENT)),
        [GROWS],
    ),
    "a member that joins later starts its threads then": (
        of_group((CALM_CLIENT, samples(from_fault_on(30, 60))), membership=(JOINS,)),
        [],
    ),
    "a member that leaves is not there at rest": (of_group((CALM_CLIENT, ()), membership=(LEAVES,)), []),
    "a member of the other client": (of_group((CALM_CLIENT, samples(from_fault_on(30, 60))), mixed=(1,)), []),
}


@pytest.mark.parametrize("name", GROUPS)
def test_members_that_stay_are_compared(name: str) -> None:
    """The member that grew most counts, beyond what its pool may still start."""
    facts, wanted = GROUPS[name]
    assert found(facts) == wanted


@pytest.mark.parametrize("moving", [[BASELINE], [CANDIDATE], list(Arm)])
def test_a_group_without_a_member_that_stays_is_not_judged(moving: Sequence[Arm]) -> None:
    """Who comes and goes shows no growth."""
    both = tuple(MemberEvent(5.0, number, MemberChange.KILL) for number in range(2))
    groups = {arm: GroupEntry("g", 2, membership=both if arm in moving else ()) for arm in Arm}
    whole = of_group((CALM_CLIENT, CALM_CLIENT))
    evidence = resources.evaluate(replace(whole, entry=replace(whole.entry, groups=groups)))
    assert (evidence.standing, evidence.reason) == (
        Standing.NOT_APPLICABLE,
        "no member is there from the beginning to the end",
    )


def test_the_member_is_named() -> None:
    """Of several processes the one that grew is named, compared with the one of the other group that grew most."""
    (grown,) = resources.evaluate(of_group((CALM_CLIENT, samples(from_fault_on(30, 30))))).divergences
    assert grown.example.observed == "30 threads more, and 60 in all in the process of member 1"
    evidence = resources.evaluate(
        of_group((samples(cpu_s=spins(3)), samples(cpu_s=spins(3, 0.9))), (CALM_CLIENT, samples(cpu_s=spins(3, 0.2))))
    )
    (busy,) = evidence.divergences
    assert busy.example.expected.endswith("java:5.3.3 uses 20 % of a core")
    assert busy.example.observed.startswith("100 % of a core for 1.2 s") and busy.example.observed.endswith("member 0")
    assert [one.value for one in evidence.measures if "processor" in one.name] == [20, 100]
    works, works_less = (samples(cpu_s=works_after(3, share)) for share in (1.6, 0.6))
    (busier,) = resources.evaluate(of_group((CALM_CLIENT, works), (works_less, CALM_CLIENT))).divergences
    assert busier.example.expected.endswith("java:5.3.3 uses +60 %")
    assert busier.example.observed == "160 % of a core more in most of the case in the process of member 1"
    groups = {BASELINE: GroupEntry("g", 2, membership=(LEAVES,)), CANDIDATE: GroupEntry("g", 2)}
    whole = of_group((CALM_CLIENT, works))
    (busier,) = resources.evaluate(replace(whole, entry=replace(whole.entry, groups=groups))).divergences
    assert busier.example.observed.endswith("in the process of member 1")


@pytest.mark.parametrize(
    ("spans_ms", "most"),
    [([], 0), ([(0, 5)], 1), ([(0, 5), (5, 9)], 1), ([(0, 5), (4, 9), (6, 7)], 2), ([(0, 9), (1, 3), (2, 8)], 3)],
)
def test_sends_under_way_at_once_are_counted(spans_ms: Sequence[tuple[int, int]], most: int) -> None:
    """The most sends of an arm that overlap are counted; one that begins when another ends does not."""
    begins, ends = ([span[side] * MS for span in spans_ms] for side in (0, 1))
    sends = pa.table({"start_ns": pa.array(begins, pa.int64()), "end_ns": pa.array(ends, pa.int64())})
    bare = context_of()
    context = replace(bare, trace=replace(bare.trace, tables={(TableName.SENDS, CANDIDATE): sends}))
    SendsAtOnce(context).finish()
    counted = [one.fact for one in context.collector.facts() if isinstance(one.fact, Tally)]
    assert {tally.arm: tally.n for tally in counted} == {"baseline": 0, "candidate": most}


def ends(candidate: tuple[int, int], baseline: tuple[int, int]) -> dict[str, int]:
    """Time to the end in ms, and threads left at the limit, of both."""
    both = {"candidate": candidate, "baseline": baseline}
    return {
        f"{name}_{arm}": measured
        for arm, end in both.items()
        for name, measured in zip(("end_ms", "threads_left", "connections_left"), (*end, 0), strict=True)
    }


@pytest.mark.parametrize(
    ("measured", "wanted"),
    [
        (ends((3_200, 0), (3_100, 0)), []),
        (ends((9_900, 0), (40, 0)), []),
        (ends((10_000, 18), (3_100, 0)), ["never-ends 1"]),
        (ends((10_000, 1), (6_000, 0)), ["never-ends 1"]),
        (ends((10_000, 18), (6_001, 0)), []),
        (ends((3_100, 0), (10_000, 18)), ["ends-alone 1"]),
        (ends((6_001, 0), (10_000, 18)), []),
        (ends((10_000, 18), (10_000, 3)), []),
        ({"end_ms_candidate": 10_000, "threads_left_candidate": 9}, []),
        ({}, []),
    ],
)
def test_a_process_that_keeps_running_is_compared_with_the_other(measured: dict[str, int], wanted: list[str]) -> None:
    """One process that ends soon and one that is killed at the limit differ; two that are killed are alike, in words."""
    assert found(case(CALM_CLIENT, measured=measured)) == wanted
    both_left = all(measured.get(f"threads_left_{arm}") for arm in Arm)
    reason = "neither process ends after its client was shut down" if both_left else ""
    assert resources.evaluate(case(CALM_CLIENT, measured=measured)).reason == reason


def test_how_a_process_ended_is_in_the_example() -> None:
    """The example has time, threads and connections of the one that kept running, and the time of the other."""
    measured = ends((60_000, 18), (35_940, 0)) | {"connections_left_candidate": 2}
    (one,) = resources.evaluate(case(CALM_CLIENT, measured=measured)).divergences
    assert one.example.observed == "is still running after 60.0 s, with 18 threads and 2 connections"
    assert one.example.expected == "a process that ended 35.9 s after it was told to stop, as java:5.3.3's"
    (one,) = resources.evaluate(case(CALM_CLIENT, measured=ends((35_960, 0), (60_000, 3)))).divergences
    assert one.example.expected == (
        "a process that is still running after 60.0 s, with 3 threads and 0 connections, as java:5.3.3's"
    )
    assert one.example.observed == "ended 36.0 s after it was told to stop"
