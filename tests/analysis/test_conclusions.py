"""From facts to evidence: the answering checks, divergences and counts."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.conclusions import all_evidence, case_facts, trace_counts
from rocketdiff.analysis.facts import CaseFact, DifferenceFact, OutageValue, Tally, Trouble, batches, difference_of
from rocketdiff.analysis.sending.send_facts import SendFacts
from rocketdiff.analysis.sending.send_view import Copy
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.analysis.spark.cases import dealt, dealt_cases, facts_of, judging
from rocketdiff.analysis.summaries import summarise
from rocketdiff.core.answers.evidence import Evidence, SpellCount, Standing, TraceCounts
from rocketdiff.core.answers.plots import LaneAttempt
from rocketdiff.core.answers.verdict import CallEnd, Severity, SideExample, StoredAt
from rocketdiff.core.answers.where import Place, at
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode, TraceError
from rocketdiff.core.tables.checks import implicit_for
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.signatures import BODY_DAMAGED
from rocketdiff.traces.manifest import ArmSummary, CaseEntry, CaseStatus, RunManifest
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.builders import ENTRY, MS, SUBJECTS, S, ended, fault, made, tried
from tests.analysis.synthetic import MANIFEST, Story, write_run

WHOLE = ArmSummary(1, 1, 0, True)
PLANNED = replace(ENTRY, checks=("loss", "timing"), arms=dict.fromkeys(Arm, WHOLE))
FOUND = DifferenceFact("order", "order.x", "candidate", 1, 2, 3, "calm", 4, 5, "this", "that", figures={"a": [1]})


def manifest(*entries: CaseEntry, run: str = "r1") -> RunManifest:
    return replace(MANIFEST, run=run, subjects=SUBJECTS, cases=entries)


def case(*facts: Any, entry: CaseEntry = PLANNED) -> CaseFacts:
    (found,) = case_facts([manifest(entry)], summarise(CaseFact("r1", 1, fact) for fact in facts))
    return found


def answers(*facts: Any, entry: CaseEntry = PLANNED) -> dict[str, Evidence]:
    """Evidence by check, in its order."""
    return {one.check: one for one in all_evidence([case(*facts, entry=entry)])}


def test_planned_checks_are_answered_once_and_the_implicit_ones_always() -> None:
    """Planned checks are answered once, in order, then the implicit ones."""
    assert list(answers()) == ["loss", "timing", *implicit_for(ClientRole.PRODUCER)]
    twice = replace(PLANNED, checks=("validity", "loss"))
    assert list(answers(entry=twice)) == ["validity", "loss", *implicit_for(ClientRole.PRODUCER)[:-1]]
    assert len(all_evidence([case(entry=twice)])) == 6


def test_differences_of_unplanned_checks_are_reported() -> None:
    """A difference of an unplanned check is a ``must``: exit code 1."""
    evidence = answers(FOUND)["order"]
    assert (evidence.severity, [divergence.signature for divergence in evidence.divergences]) == (
        Severity.MUST,
        ["order.x"],
    )
    assert ended(evidence)[1] is ExitCode.DIVERGES
    assert answers(replace(FOUND, check="failover-time"))["failover-time"].severity is Severity.MUST
    assert list(answers(replace(FOUND, check="loss"))).count("loss") == 1


def test_a_check_without_an_evaluation_is_refused() -> None:
    """An unknown check is refused by name, with its case."""
    with pytest.raises(TraceError, match="'telepathy' planned for case"):
        answers(entry=replace(PLANNED, checks=("telepathy",)))


def unknowable(arm: str, why: str, check: str = "loss") -> Tally:
    return Tally(f"unknowable: {check}", arm, "", why, 1, 0.0)


@pytest.mark.parametrize(
    ("tallies", "reason"),
    [
        ([unknowable("candidate", "why")], "why"),
        ([unknowable("baseline", "why")], "why"),
        ([unknowable("baseline", "why"), unknowable("candidate", "why")], "why"),
        ([unknowable("baseline", "z"), unknowable("candidate", "a")], "a; z"),
    ],
)
def test_a_planned_check_that_is_unknowable_has_its_reason(tallies: list[Tally], reason: str) -> None:
    """A check without an answer is NOT_APPLICABLE with every reason once, or INVALID if the set-up was broken."""
    evidence = answers(*tallies)
    assert (evidence["loss"].standing, evidence["loss"].reason) == (Standing.NOT_APPLICABLE, reason)
    assert evidence["outcomes"].standing is not Standing.NOT_APPLICABLE
    aborted = answers(*tallies, entry=replace(PLANNED, status=CaseStatus.ABORTED))
    assert aborted["loss"].standing is Standing.INVALID


LOST = DifferenceFact("loss", "loss.x", "candidate", 0, 1, None, "calm", 4, 1, "this", "that")


@pytest.mark.parametrize(
    ("facts", "reasons"),
    [
        ([], {}),
        ([("baseline", "why")], {}),
        ([("candidate", "why")], {"loss": "why"}),
        ([("candidate", "why"), ("candidate", "also")], {"loss": "also; why"}),
        ([("candidate", "why"), LOST], {}),
    ],
)
def test_an_incomparable_case_conforms_in_no_check(facts: list[Any], reasons: dict[str, str]) -> None:
    """A check that would conform is INVALID with the reasons; one that diverges or is about the run keeps its answer."""
    stored = [Tally("loss", arm, "calm", "stored", 9, 0.0) for arm in Arm]
    noted = [
        one if isinstance(one, DifferenceFact) else Tally("incomparable", one[0], "", one[1], 1, 0.0) for one in facts
    ]
    evidence = answers(*stored, *noted)
    invalid = {check: one.reason for check, one in evidence.items() if one.standing is Standing.INVALID}
    assert invalid == reasons
    assert (evidence["loss"].standing is Standing.DECISIVE) is not bool(reasons)
    assert evidence["validity"].standing is Standing.DECISIVE


def test_a_difference_that_tables_show() -> None:
    """A difference of no send has no number and no weight; one of the baseline may blame the rules."""
    collector = SendFacts("r1", 7, 0)
    collector.differ_at(BODY_DAMAGED, Arm.CANDIDATE, at_ns=5, phase="calm", expected="a", observed="b")
    collector.differ_at(
        BODY_DAMAGED, Arm.BASELINE, at_ns=5, phase="calm", expected="a", observed="b",
        send=3, thread=2, attempt=1, place="there", of_rules=True,
    )  # fmt: skip
    assert collector.differences() == (
        DifferenceFact("loss", "loss.body-damaged", "candidate", 0, -1, None, "calm", 5, 0, "a", "b"),
        DifferenceFact("loss", "rules/loss.body-damaged/there", "baseline", 2, 3, 1, "calm", 5, 1, "a", "b"),
    )


def test_everything_of_a_case_comes_to_its_facts() -> None:
    """A case has all its facts and no others."""
    value = OutageValue("timing", "s", "baseline", 1, 2.0, 3, "open")
    rows: list[Any] = [
        FOUND,
        replace(FOUND, send=9),
        replace(FOUND, check="loss"),
        value,
        fault(S, 2 * S),
        Tally("a", "b", "c", "d", 2, 0.5),
    ]
    facts = [
        CaseFact(run, number, row)
        for run in ("r1", "r2")
        for number in (1, 2)
        for row in rows
        if (run, number) != ("r2", 2)
    ]
    entries = [replace(PLANNED, number=number) for number in (1, 2)]
    cases = case_facts([manifest(*entries), manifest(*entries, run="r2")], summarise(facts))
    assert [(one.run, one.entry.number, len(one.episodes), len(one.faults)) for one in cases] == [
        ("r1", 1, 1, 1),
        ("r1", 2, 1, 1),
        ("r2", 1, 1, 1),
        ("r2", 2, 0, 0),
    ]
    assert {check: [one.count for one in found] for check, found in cases[2].divergences.items()} == {
        "order": [2],
        "loss": [1],
    }
    assert (cases[2].tallies, cases[3].tallies, cases[3].divergences) == ({("a", "b", "c", "d"): (2, 0.5)}, {}, {})
    assert (cases[2].episodes, cases[2].faults, cases[2].subjects) == ((value,), (fault(S, 2 * S),), SUBJECTS)


def test_a_difference_becomes_a_divergence_with_its_example() -> None:
    """A difference becomes a divergence with the same fields."""
    ((one,),) = case(FOUND).divergences.values()
    assert (one.signature, one.subject, one.count) == ("order.x", "python:5.3.3", 1)
    shown = one.example
    assert (shown.where, shown.phase) == (at(Place.SEND, 2, 1, 3), "calm")
    assert (shown.expected, shown.observed, shown.figures, shown.run) == ("this", "that", {"a": [1]}, "")
    ((one,),) = case(replace(FOUND, sides=(SideExample("baseline"),))).divergences.values()
    assert one.example.run == "r1"
    ((one,),) = case(replace(FOUND, arm="baseline")).divergences.values()
    assert one.subject == "java:5.3.3"


def test_how_much_was_read_is_added_up() -> None:
    """Counts are summed over arms, cases and runs."""
    names = ("sends", "attempt", "stored", "foreign")
    tallies = [Tally(name, arm, "calm", "x", 10 + n, 0.0) for n, name in enumerate((*names, "calls")) for arm in Arm]
    met = [Tally("spell.met", arm, "paused", "1", 1, 0.0) for arm in Arm]
    one = case(*tallies, *met, fault(S, 2 * S))
    assert trace_counts([manifest(PLANNED), manifest(PLANNED)], iter([one, one, case()])) == TraceCounts(
        runs=2,
        cases=3,
        sends=40,
        attempts=44,
        stored=48,
        foreign=52,
        faults=2,
        spells=(SpellCount("fault latency off, one of several brokers", 2),),
        calls=56,
    )


def test_a_notebook_adds_up_and_keeps_the_order() -> None:
    """The collector yields facts in order, then each tally once."""
    collector = SendFacts("r1", 7, 0)
    collector.count("a", "b", "c", "d")
    collector.note(FOUND)
    collector.count("a", "b", "c", "d", n=4, total=1.5)
    collector.count("a", "b", "c", "e", n=0)
    collector.note(fault(S, 2 * S))
    assert list(collector.facts()) == [
        CaseFact("r1", 7, FOUND),
        CaseFact("r1", 7, fault(S, 2 * S)),
        CaseFact("r1", 7, Tally("a", "b", "c", "d", 5, 1.5)),
        CaseFact("r1", 7, Tally("a", "b", "c", "e", 0, 0.0)),
    ]
    assert collector.differences() == (FOUND,)


def bar(arm: str, attempt: int, start_ms: float) -> LaneAttempt:
    """An attempt of 1 ms on broker-b that timed out."""
    return LaneAttempt(arm, 0, 4, attempt, "broker-b", 0, start_ms, start_ms + 1, "unknown", "timeout")


def test_a_difference_shows_both_arms() -> None:
    """A difference shows both arms' attempts, calls and copies; an unfinished send has no call."""
    slow = [tried((n + 1) * MS, (n + 2) * MS, "RemotingTimeoutException", attempt=n) for n in (0, 1)]
    side = made(Arm.CANDIDATE, 4, *slow, copies=[Copy("broker-b", 0, 7, 0, True)], cause="c", code=6)
    gone = replace(made(Arm.BASELINE, 4, slow[0], copies=None), row=None)
    call = CallEnd("unknown", "timeout", "RemotingTimeoutException", "c", 6, None, "broker-b", 0, None, 2.0)
    for other, bars in ((gone, (bar("baseline", 0, -4.0),)), (None, ())):
        collector = SendFacts("r1", 7, 5 * MS)
        collector.differ(BODY_DAMAGED, AlignedSend(0, 4, other, side), side, expected="a", observed="b", attempt=1)
        (found,) = collector.differences()
        assert (found.arm, found.attempt, found.at_ns, found.weight) == ("candidate", 1, MS, len(bars) + 2)
        theirs, ours = found.sides
        assert theirs == SideExample("baseline", bars, None, ())
        assert ours.attempts == (bar("candidate", 0, -4.0), bar("candidate", 1, -3.0))
        assert (ours.call, ours.stored) == (call, (StoredAt("broker-b", 0, 7),))
        assert found.figures == {"rules": {}}


def test_a_difference_comes_back_out_of_its_row() -> None:
    """A difference is read back from Arrow unchanged."""
    sides = (
        SideExample("baseline", (bar("baseline", 0, -5.0),), CallEnd("ok", "none", elapsed_ms=2.0), ()),
        SideExample("candidate", (), None, (StoredAt("broker-b", 0, 7),)),
    )
    found = replace(FOUND, sides=sides, figures={"rules": {"legal": [["broker-a", 1]], "states": 1}})
    (batch,) = batches([CaseFact("r1", 7, found)])
    assert difference_of(batch.to_pylist()[0]["difference"]) == found


def test_facts_are_written_column_by_column() -> None:
    """Each kind of fact is written in its own column with all fields."""
    trouble = Trouble.of(TraceError("a file", seen="none", hint="look"))
    killed = FaultRecord(1, FaultKind.KILL, "broker-a", 10, 20, None)
    (batch,) = batches([CaseFact("r1", 7, FOUND), CaseFact("r2", 8, trouble), CaseFact("r2", 8, killed)])
    first, second, third = batch.to_pylist()
    assert (first["run"], first["number"], first["difference"]["figures"]) == ("r1", 7, '{"a":[1]}')
    kinds = [[name for name, value in row.items() if value is not None][3:] for row in (first, second, third)]
    assert kinds == [["difference"], ["trouble"], ["fault"]]
    assert tuple(third["fault"].values()) == (1, "kill", "broker-a", 10, 20, None, None, None, None)
    assert second["trouble"] == {"expected": "a file", "seen": "none", "hint": "look"}
    assert [one.num_rows for one in batches([CaseFact("r1", 1, FOUND)] * 8_193)] == [8_192, 1]
    assert list(batches([])) == []


@pytest.mark.parametrize(
    ("sized", "tasks", "piles"),
    [
        ([("b1", 1), ("a2", 1), ("a1", 1), ("c1", 9)], 2, ["c1", "a1 a2 b1"]),
        ([("r1", 3), ("r2", 5), ("r3", 1), ("r4", 4), ("r5", 3)], 2, ["r2 r5", "r4 r1 r3"]),
        ([("r1", 1), ("r2", 1)], 8, ["r1", "r2"]),
        ([], 8, []),
    ],
)
def test_the_task_with_the_least_work_gets_the_next_case(
    sized: list[tuple[str, int]], tasks: int, piles: list[str]
) -> None:
    """Cases are dealt by size, the largest first, then by name; no task is empty."""
    found = dealt([(size, (name[0], int(name[1]))) for name, size in sized], tasks)
    assert [" ".join(f"{run}{number}" for run, number in pile) for pile in found] == piles


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    """Three small cases, the second never begun."""
    stories = [Story(name=f"case-{number}", pauses=(), sends=8 * number) for number in (1, 2, 3)]
    written = write_run(tmp_path_factory.mktemp("runs"), stories)
    written.change(2, lambda entry: replace(entry, status=CaseStatus.PLANNED))
    return RunDirectory.open(written.path)


def test_cases_that_were_begun_are_dealt_to_tasks_and_read(run: RunDirectory) -> None:
    """Begun cases are dealt, the larger first; an unreadable one yields its trouble."""
    larger, smaller = (str(run.path), 3), (str(run.path), 1)
    assert dealt_cases([run], 2) == [(larger,), (smaller,)]
    (run.path / "sends" / "03-baseline.parquet").write_bytes(b"no parquet")
    rows = [row for batch in facts_of((larger, smaller), 50) for row in batch.to_pylist()]
    assert [row["number"] for row in rows if row["trouble"] is not None] == [3]
    assert {row["number"] for row in rows if row["tally"] is not None} == {1}
    assert {row["run"] for row in rows} == {"run-1"}


def test_a_task_judges_the_piles_whose_numbers_it_gets(run: RunDirectory) -> None:
    """A task judges the cases of its numbers, in order."""
    piles = [((str(run.path), 1),), (), ((str(run.path), 1),)]
    once = list(facts_of(piles[0], 5))
    numbers = pa.record_batch({"id": pa.array([2, 1])})
    assert list(judging(piles, 5)(iter([numbers, pa.record_batch({"id": pa.array([0])})]))) == [*once, *once]
    assert dealt_cases([], 3) == []
