"""A cell states only what was measured, and the most severe of it."""

from dataclasses import replace

import pytest

from rocketdiff.core.answers.plots import LaneAttempt
from rocketdiff.core.answers.verdict import CheckResult, Divergence, Example, Severity, SideExample, Verdict
from rocketdiff.core.answers.where import Place, at
from rocketdiff.matrix.cells import NOT_ASKED, MatrixSource, alike, column_of, extract
from rocketdiff.matrix.document import CellState, Column, MatrixCell
from tests.matrix.stories import BASELINE, CALM, PAUSE, answer, document, moved


def column(*answers: CheckResult, subject: str = "java:4.7.1", left_out: tuple[tuple[str, str], ...] = ()) -> Column:
    return column_of(
        subject, BASELINE, [extract(MatrixSource(document(*answers, subject=subject, left_out=left_out), "runs/one"))]
    )


def cell(of: Column, row: str) -> MatrixCell:
    return next(one for one in of.cells if one.row == row)


def test_a_row_is_as_the_baseline_where_every_answer_is() -> None:
    """A row equals the baseline only if every answer does; one open answer leaves it open."""
    same = [answer(CALM, "loss"), answer(PAUSE, "loss", Verdict.EQUIVALENT)]
    assert cell(column(*same), "loss").state is CellState.SAME
    opened = column(*same, answer("retries/none", "loss", Verdict.INCONCLUSIVE, reason="too few"))
    assert cell(opened, "loss").state is CellState.OPEN
    assert cell(opened, "loss").reason == "retries/none, loss: too few"


@pytest.mark.parametrize("verdict", [Verdict.INVALID, Verdict.INCONCLUSIVE, Verdict.ERROR])
def test_a_broken_set_up_is_open(verdict: Verdict) -> None:
    """A broken set-up is neither difference nor agreement."""
    assert cell(column(answer(CALM, "loss", verdict)), "loss").state is CellState.OPEN


def test_an_unmeasured_row_has_a_reason() -> None:
    """An unmeasured row has a reason: no question arose, its scenario was left out, or none was run."""
    made = column(
        answer(CALM, "callbacks", Verdict.NOT_APPLICABLE, reason="no callback was due"),
        left_out=(("delay/level-one", "one of the two clients has no such call"),),
    )
    output = {
        row: (cell(made, row).state, cell(made, row).reason) for row in ("callbacks", "delay", "C5", "order", "C6")
    }
    assert output == {
        "callbacks": (CellState.NOT_MEASURED, f"{CALM}: no callback was due"),
        "delay": (CellState.NOT_MEASURED, "delay/level-one: one of the two clients has no such call"),
        "C5": (CellState.NOT_MEASURED, "delay/level-one: one of the two clients has no such call"),
        "order": (CellState.NOT_MEASURED, NOT_ASKED),
        "C6": (CellState.NOT_MEASURED, "no scenario runs it yet"),
    }


def test_a_planted_defect_is_in_its_rows_and_in_no_other() -> None:
    """A loss appears in the rows of its check and of the behaviour that its scenario covers."""
    lost = answer(PAUSE, "loss", Verdict.DIVERGES, "loss.acknowledged-not-stored")
    others = [answer(PAUSE, check) for check in ("queue-choice", "attempts", "duplication", "outcomes")]
    made = column(lost, *others, answer(CALM, "loss"), answer(CALM, "queue-choice"))
    assert {one.row for one in made.cells if one.state is CellState.DIFFERS} == {"loss", "C4"}
    assert {one.row for one in made.cells if one.state is CellState.SAME} == {
        "queue-choice", "attempts", "duplication", "outcomes", "A1", "C3",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("scenario", "signature", "rows"),
    [
        ("consuming/name-server-paused", "delivered.never", {"E1", "E2"}),
        ("consuming/name-server-paused", "redelivery.without-cause", {"E2"}),
        ("consuming/pause-one-of-two", "promptness.late", {"F1"}),
        ("consuming/pause-one-of-two", "pulling.two-at-once", {"F1"}),
        ("groups/five-queues-one-to-six-members", "allocation.two-owners", {"F2"}),
        ("groups/five-queues-one-to-six-members", "redelivery.without-cause", {"F3"}),
        ("ordered-group/suspended", "delivery-order.overtaken", {"F4"}),
        ("retries/fails-beside-a-pause", "retries.missing", {"F5"}),
        ("backlog/stopped-group", "flow-control.exceeded", {"F6"}),
        ("groups/master-killed-and-slave-read", "pulling.commit-at-a-slave", {"F7"}),
        ("groups/master-killed-and-slave-read", "delivered.never", {"E4", "F7"}),
        ("retries/fails-beside-a-pause", "offsets.unfinished-committed", {"F8"}),
    ],
)
def test_a_defect_of_a_consumer_is_in_the_rows_that_its_scenario_covers(
    scenario: str, signature: str, rows: set[str]
) -> None:
    """A defect of a consumer is in the row of its check, and in those of the behaviours that its scenario covers."""
    check = signature.partition(".")[0]
    made = column(answer(scenario, check, Verdict.DIVERGES, signature))
    assert {one.row for one in made.cells if one.state is CellState.DIFFERS} == {check, *rows}
    conforming = column(answer(scenario, check))
    assert {one.row for one in conforming.cells if one.state is CellState.SAME} >= {check, *rows}


def test_behaviours_of_consumers_are_not_measured_by_sends() -> None:
    """A run about producers measures no behaviour of consumers, and gives the reason."""
    made = column(answer(CALM, "loss"), answer(PAUSE, "loss"))
    consumers = [one for one in made.cells if one.row in {f"F{number}" for number in range(1, 9)}]
    assert {(one.state, one.reason) for one in consumers} == {(CellState.NOT_MEASURED, NOT_ASKED)}


def test_an_example_of_a_consumer_shows_deliveries() -> None:
    """The example of a message shows its deliveries, not attempts of a send."""
    delivery = LaneAttempt("candidate", 1, 7, 0, "broker-b", 3, 1_000.0, 1_002.0, "ok", "success")
    story = Divergence(
        "redelivery.without-cause",
        "java:4.7.1",
        1,
        Example(at(Place.MESSAGE, 7, 1, 0), "calm", "no", "one", sides=(SideExample("candidate", (delivery,)),)),
    )
    found = replace(answer("groups/mixed", "redelivery", Verdict.DIVERGES), divergences=(story,))
    (arm,) = column(found).differences[0].arms
    assert (arm.part, arm.attempts) == ("delivery", ("member 1, queue 3 of broker-b: success after 2 ms",))


def test_a_declared_difference_does_not_excuse_a_new_one() -> None:
    """A declared difference does not excuse a new one of its kind, which the cell shows."""
    known = answer(CALM, "loss", Verdict.DECLARED, "loss.stray-message", declared_by="strays")
    assert cell(column(known), "loss").state is CellState.KNOWN
    both = column(known, answer(PAUSE, "loss", Verdict.DIVERGES, "loss.stray-message"))
    found = cell(both, "loss")
    assert found.state is CellState.DIFFERS
    assert [both.differences[number].scenarios for number in found.differences] == [(PAUSE,)]


def test_a_declared_difference_that_did_not_occur_is_as_the_baseline() -> None:
    """A STALE answer equals the baseline: the declared difference did not occur."""
    stale = answer(CALM, "loss", Verdict.STALE, reason="stale: strays declares it")
    assert cell(column(stale), "loss").state is CellState.SAME


def test_a_difference_of_the_baseline_itself_is_not_laid_to_the_subject() -> None:
    """A difference of the baseline from its own rules is not attributed to the subject."""
    made = column(answer(CALM, "queue-choice", Verdict.DIVERGES, "rules/queue.out-of-turn/first", of=BASELINE))
    assert cell(made, "queue-choice").state is CellState.OPEN
    assert made.differences == ()


def test_a_baseline_beside_itself_has_differences_of_its_own() -> None:
    """A baseline compared with itself has differences of its own."""
    made = column(answer(CALM, "loss", Verdict.DIVERGES, "loss.stray-message", subject=BASELINE), subject=BASELINE)
    assert cell(made, "loss").state is CellState.DIFFERS


def test_a_difference_in_another_respect_leaves_a_behaviour_open() -> None:
    """A retry to another queue is no difference in the rotation (A1), but leaves it open."""
    made = column(answer(CALM, "queue-choice", Verdict.DIVERGES, "queue.out-of-turn/retry"))
    assert cell(made, "queue-choice").state is CellState.DIFFERS
    assert cell(made, "A1").state is CellState.OPEN
    assert cell(made, "A1").reason == f"{CALM}: queue-choice differs in another respect"


def test_a_cell_shows_durations_of_the_pool() -> None:
    """A cell shows the durations of the pool, not of single cases."""
    single = answer(PAUSE, "timing", Verdict.INCONCLUSIVE, severity=Severity.INFO)
    pooled = answer("pooled/pause/fault-latency-off", "timing", Verdict.EQUIVALENT)
    made = column(answer(PAUSE, "loss"), single, pooled)
    assert cell(made, "timing").state is CellState.SAME
    assert [made.answers[number].scenario for number in cell(made, "timing").answers] == [
        "pooled/pause/fault-latency-off"
    ]


def test_every_cell_leads_to_its_evidence() -> None:
    """A cell links to its answer in the report, and a difference to its card and `explain` command."""
    made = column(answer(PAUSE, "loss", Verdict.DIVERGES, "loss.stray-message"))
    one = made.differences[0]
    assert made.answers[0].report == "runs/one/report.html#case-round-robin-repeated-pauses.loss"
    assert one.report == f"runs/one/report.html#divergence-{one.fingerprint}"
    assert one.explain == f"rocketdiff explain run java:4.7.1 7 --case {PAUSE}/{BASELINE}~java:4.7.1"


def test_a_column_without_runs_claims_nothing() -> None:
    """A column without runs is unmeasured, with the reason."""
    made = column_of("go:2.1.2", BASELINE, [], [("quick, seed 20", "expected go; saw none")])
    assert {one.state for one in made.cells} == {CellState.NOT_MEASURED}
    assert cell(made, "loss").reason == "expected go; saw none"
    assert cell(made, "C6").reason == "no scenario runs it yet"


def test_a_run_that_is_missing_is_named_where_it_might_have_answered() -> None:
    """A missing run is named where the other run has no answer."""
    made = column_of(
        "java:4.7.1",
        BASELINE,
        [extract(MatrixSource(document(answer(CALM, "loss"))))],
        [("wire, seed 1", "not run yet")],
    )
    assert cell(made, "order").reason == f"{NOT_ASKED}; wire, seed 1: not run yet"
    assert cell(made, "loss").state is CellState.SAME


def test_releases_that_answer_alike_are_one_group() -> None:
    """Releases of one client with equal states and signatures are one group."""
    out_of_turn = answer(CALM, "queue-choice", Verdict.DIVERGES, "queue.out-of-turn/first")
    mutated = answer(CALM, "queue-choice", Verdict.DIVERGES, "queue.mutated-list/first")
    reported = {
        "java:4.7.1": out_of_turn,
        "java:4.8.0": mutated,
        "java:4.6.1": out_of_turn,
        "python:4.7.1": out_of_turn,
    }
    columns = [column(moved(one, subject), subject=subject) for subject, one in reported.items()]
    missing = [column_of(f"go:{number}", BASELINE, [], [("quick", "no go")]) for number in (1, 2)]
    assert alike([*columns, *missing]) == ((0, 2), (1,), (3,), (4,), (5,))
