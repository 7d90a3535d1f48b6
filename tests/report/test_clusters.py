"""Divergences are grouped into few clusters."""

from rocketdiff.core.answers.plots import LaneAttempt
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult, Divergence, Example, Severity, SideExample, Verdict
from rocketdiff.core.answers.where import Place, at
from rocketdiff.report.clusters import Weight, clusters_of, fingerprint
from rocketdiff.report.document import Document


def decided(attempts: int) -> tuple[SideExample, ...]:
    bars = (LaneAttempt("baseline", 0, 1, number, "a", 0, 0.0, 1.5, "ok", "none") for number in range(attempts))
    return (SideExample("baseline", tuple(bars)),)


def result(
    case: str, signature: str, *, count: int = 1, send: int = 1, attempts: int = 0, **more: object
) -> CheckResult:
    example = Example(at(Place.SEND, send, 0, 0), "calm", "a", "b", sides=decided(attempts) if attempts else ())
    found = Divergence(signature, str(more.pop("subject", "java:1")), count, example)
    verdict = more.pop("verdict", Verdict.DIVERGES)
    return CheckResult(case, "loss", verdict, divergences=(found,), **more)  # type: ignore[arg-type]  # keywords above


def test_one_signature_is_one_cluster_over_all_cases() -> None:
    """One signature is one cluster over all cases, with counts added."""
    (cluster,) = clusters_of([result("a", "s", count=3), result("b", "s", count=4), result("b", "s")], Policy())
    assert (cluster.count, cluster.cases) == (8, ("a", "b"))


def test_two_subjects_with_one_signature_are_two_clusters() -> None:
    """The same signature of two subjects is two clusters."""
    assert len(clusters_of([result("a", "s"), result("a", "s", subject="java:2")], Policy())) == 2


def test_the_example_is_the_shortest_to_follow_then_the_earliest() -> None:
    """The example has the fewest attempts, then the earliest send; one without attempts comes last."""
    rows = [
        result("a", "s", send=1),
        result("b", "s", send=2, attempts=4),
        result("c", "s", send=9, attempts=2),
        result("d", "s", send=5, attempts=2),
    ]
    (cluster,) = clusters_of(rows, Policy())
    assert (cluster.example_case, cluster.example.where.number, len(cluster.decisions)) == ("d", 5, 2)
    assert cluster.decisions[0] == LaneAttempt("baseline", 0, 1, 0, "a", 0, 0.0, 1.5, "ok", "none")


def test_gating_divergences_come_first_then_the_most_frequent() -> None:
    """The order is new, warning, declared, void, and by count within each."""
    rows = [
        result("a", "void", verdict=Verdict.INVALID, count=99),
        result("a", "declared", verdict=Verdict.DECLARED, count=99),
        result("a", "warning", severity=Severity.SHOULD, count=99),
        result("a", "rare", count=1),
        result("a", "frequent", count=50),
    ]
    clusters = clusters_of(rows, Policy())
    assert [cluster.signature for cluster in clusters] == ["frequent", "rare", "warning", "declared", "void"]
    assert [cluster.weight for cluster in clusters][1:] == [Weight.NEW, Weight.WARNING, Weight.DECLARED, Weight.VOID]
    assert {c.signature: c.weight for c in clusters_of(rows, Policy(strict=True))}["warning"] is Weight.NEW


def test_a_fingerprint_names_the_same_cluster_in_every_run(document: Document) -> None:
    """A fingerprint is the same in every run, because other tools store it."""
    assert fingerprint("loss", "lost.acknowledged", "java:5.3.3") == "5294b7a7298f"
    assert len({cluster.fingerprint for cluster in document.clusters}) == len(document.clusters)
