"""Proposed entries can be read, excuse nothing, and become a ledger after a person's edits."""

from dataclasses import replace
from datetime import date

import pytest
import yaml

from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult, Severity, Verdict
from rocketdiff.core.run_info import SubjectInfo
from rocketdiff.ledger.apply import apply_ledger
from rocketdiff.ledger.file import ParsedFile, parse
from rocketdiff.ledger.model import Confirmation, Ledger, Party, Range
from rocketdiff.ledger.proposal import proposed_file
from tests.ledger.ledger_entries import BOTH, NEW, OLD, ONE, POOL, RUN, divergence, result

EVIDENCE = Confirmation(7, "r1", f"sha256:{'0a' * 32}", "rocketdiff compare java:4.7.1 java:5.3.3")
DAY = date(2026, 11, 21)
DIVERGING = [result(ONE, divergence(), divergence("avoidance.other")), result(BOTH, divergence()), result(ONE)]


def read(text: str) -> ParsedFile:
    return parse(yaml.safe_load(text), "proposed.yaml", lambda _: "proposed.yaml line 1")


def test_each_diverging_check_is_an_entry_with_all_its_signatures() -> None:
    """Each diverging check becomes a proposed entry with all its signatures, of the two releases alone."""
    first, second = read(proposed_file(DIVERGING, RUN, EVIDENCE, DAY)).entries
    assert (first.id, first.check) == ("latency-pause-one-avoidance-java-5.3.3", f"{ONE}/avoidance")
    assert first.signatures == ("avoidance.used/first", "avoidance.other")
    assert first.when.subject == Party("java", Range.parse("==5.3.3"))
    assert first.when.against == Party("java", Range.parse("==4.7.1"))
    assert (first.evidence, first.added, first.proposed, second.proposed) == (EVIDENCE, DAY, True, True)


def test_a_proposal_excuses_nothing_until_it_is_edited() -> None:
    """A proposal declares nothing until it is edited, then exactly what the run showed."""
    text = proposed_file(DIVERGING, RUN, EVIDENCE, DAY)
    before = apply_ledger(Ledger(read(text).entries), DIVERGING, RUN, Policy())
    assert [one.verdict.value for one in before.results] == ["DIVERGES", "DIVERGES", "CONFORMS"]
    edited = text.replace("status: proposed", "").replace("arm_at_fault: TODO", "arm_at_fault: baseline")
    edited = edited.replace("TODO: ", "known: ").replace('owner: ""', "owner: me")
    after = apply_ledger(Ledger(read(edited).entries), DIVERGING[:2], RUN, Policy())
    assert [one.verdict.value for one in after.results] == ["DECLARED", "DECLARED"]


USED, OTHER = divergence(), divergence("avoidance.other")
ELSEWHERE = result(BOTH, USED, check="loss", verdict=Verdict.INCONCLUSIVE)


def test_a_signature_in_every_scenario_is_one_entry() -> None:
    """A signature in every scenario becomes one entry with a glob."""
    results = [result(ONE, USED, OTHER), result(BOTH, USED), result(POOL, USED), result(ONE, check="loss"), ELSEWHERE]
    text = proposed_file(results, RUN, EVIDENCE, DAY)
    everywhere, alone = read(text).entries
    assert (everywhere.id, everywhere.check) == ("avoidance-java-5.3.3", "**/avoidance")
    assert everywhere.signatures == ("avoidance.used/first",)
    assert "# every scenario of the run that answered it" in text
    assert (alone.check, alone.signatures) == (f"{ONE}/avoidance", ("avoidance.other",))


def test_one_entry_for_all_scenarios_declares_them_all() -> None:
    """An active entry with a glob declares all scenarios."""
    results = [result(ONE, USED), result(BOTH, USED)]
    (one,) = read(proposed_file(results, RUN, EVIDENCE, DAY)).entries
    active = replace(one, proposed=False, owner="me")
    assert [each.verdict.value for each in apply_ledger(Ledger((active,)), results, RUN, Policy()).results] == [
        "DECLARED",
        "DECLARED",
    ]


@pytest.mark.parametrize(
    "results",
    [
        [result(ONE, USED), result(BOTH, USED), result(POOL)],
        [result(ONE, USED), result(BOTH, USED), result(POOL, replace(USED, declared_by="K16"))],
        [result(ONE, USED), result(BOTH, USED), result(BOTH)],
        [result(ONE, USED), result(BOTH, OTHER)],
        [result(ONE, USED), result(BOTH, divergence(subject=OLD))],
        [result(ONE, USED), result(ONE, USED)],
    ],
    ids=["not in one", "declared in one", "not in one run", "another signature", "another subject", "one scenario"],
)
def test_a_signature_that_one_answer_lacks_gets_no_glob(results: list[CheckResult]) -> None:
    """A signature that one answer lacks gets no glob, which would be stale at once."""
    checks = [one.check for one in read(proposed_file(results, RUN, EVIDENCE, DAY)).entries]
    assert all(check in (f"{ONE}/avoidance", f"{BOTH}/avoidance") for check in checks)


def test_declared_and_invalid_differences_are_not_proposed() -> None:
    """Declared and invalid differences are not proposed."""
    known = replace(divergence(), declared_by="K16")
    broken = replace(result(ONE, divergence()), verdict=result(ONE).verdict)
    assert proposed_file([result(ONE, known), broken], RUN, EVIDENCE, DAY) == ""


def test_a_baseline_that_its_own_rules_do_not_explain_stands_alone() -> None:
    """A baseline's divergence from its own rules gets an entry without ``against``."""
    twins = replace(RUN, baseline=SubjectInfo(NEW, "java", "5.3.3"))
    found = [replace(result(ONE, divergence(), divergence("rules/queue.x")), case=f"{ONE}/{NEW}~{NEW}")]
    candidate, baseline = read(proposed_file(found, twins, EVIDENCE, DAY)).entries
    assert candidate.when.against is not None
    assert (baseline.when.against, baseline.id) == (None, "latency-pause-one-avoidance-java-5.3.3-rules")


def test_one_check_in_several_runs_is_one_entry_of_the_heaviest_severity() -> None:
    """A check of several runs becomes one entry of the highest severity."""
    mild = replace(result(ONE, divergence()), severity=Severity.SHOULD)
    (entry,) = read(proposed_file([mild, result(ONE, divergence())], RUN, EVIDENCE, DAY)).entries
    assert entry.severity is Severity.MUST


def test_a_subject_without_a_release_number_has_no_range() -> None:
    """A subject without a release number, such as a toy, gets no range."""
    toys = replace(RUN, candidate=SubjectInfo("toy:drops", "toy", "1"))
    found = [replace(result(ONE, divergence(subject="toy:drops")), case=f"{ONE}/{OLD}~toy:drops")]
    (entry,) = read(proposed_file(found, toys, EVIDENCE, DAY)).entries
    assert (entry.when.subject.client, entry.when.subject.version) == ("toy", None)


def test_a_difference_of_the_baseline_is_proposed_against_any_client() -> None:
    """A divergence of the baseline is proposed for any other client."""
    (own,) = read(proposed_file([result(ONE, divergence(subject=OLD))], RUN, EVIDENCE, DAY)).entries
    assert (own.when.subject.matches(OLD), own.when.against) == (True, None)


def test_a_proposal_is_written_as_people_read_it() -> None:
    """A proposal keeps non-ASCII letters, and quotation marks do not end its text."""
    command = 'rocketdiff compare --label "Büro" java:4.7.1 java:5.3.3'
    text = proposed_file(DIVERGING, RUN, replace(EVIDENCE, reproduce=command), DAY)
    assert "Büro" in text
    assert yaml.safe_load(text)["entries"][0]["evidence"]["reproduce"] == command
