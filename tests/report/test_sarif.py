"""SARIF 2.1.0: required content, stable fingerprints and platform limits."""

import gzip
import json
from dataclasses import replace
from datetime import date
from typing import Any

import msgspec
import pytest

from rocketdiff.core.answers.verdict import Divergence, Example, Severity, Verdict
from rocketdiff.core.answers.where import Place, at
from rocketdiff.ledger.apply import EntryOutcome
from rocketdiff.ledger.model import EntryState
from rocketdiff.report.clusters import ExampleContext, KnownEntry
from rocketdiff.report.document import Document
from rocketdiff.report.formats import sarif
from rocketdiff.report.formats.sarif import GITHUBS, SIGNATURE, results_of

LEVELS = {"none", "note", "warning", "error"}
BASELINE_STATES = {"new", "unchanged", "updated", "absent"}


def run_of(document: Document) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(sarif.render(document))
    (run,) = log["runs"]
    return dict(run)


def outcome(state: EntryState, **changed: Any) -> EntryOutcome:
    entry = EntryOutcome(
        id="K1-stays",
        place="java.yaml line 12",
        state=state,
        check="fault-latency/*/queue-choice",
        signatures=("retry/returns-to-failed-broker",),
        occurrence="always",
        seen_text="seen in 0 of 4 decisive checks",
        decisive=4,
        seen=0,
        arm_at_fault="java",
        severity=Severity.MUST,
        reason="A retry stays on the failed broker.",
        ref="apache/rocketmq#1302",
        owner="somebody",
        expires=date(2027, 5, 1),
    )
    return replace(entry, **changed)


def declared(document: Document) -> Document:
    known = tuple(
        replace(
            result,
            verdict=Verdict.DECLARED,
            divergences=tuple(replace(one, declared_by="K1-stays") for one in result.divergences),
        )
        if result.check == "queue-choice" and result.divergences
        else result
        for result in document.results
    )
    return msgspec.structs.replace(document, results=known, ledger=(outcome(EntryState.DECLARED, seen=4),))


def test_fields_that_the_schema_requires_are_there(document: Document) -> None:
    """What sarif-schema-2.1.0 requires is present; coded here, as tests have no network."""
    log = json.loads(sarif.render(declared(document)))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "rocketdiff"
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids))
    assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in driver["rules"])
    assert all(rule["defaultConfiguration"]["level"] in LEVELS for rule in driver["rules"])
    assert all(isinstance(one["executionSuccessful"], bool) for one in run["invocations"])
    assert all(
        note["message"]["text"] and note["level"] in LEVELS
        for one in run["invocations"]
        for note in one["toolExecutionNotifications"]
    )
    assert run["results"]
    for result in run["results"]:
        assert result["message"]["text"]
        assert result["level"] in LEVELS and result["baselineState"] in BASELINE_STATES
        assert ids[result["ruleIndex"]] == result["ruleId"]
        (place,) = result["locations"]
        assert place["logicalLocations"][0]["fullyQualifiedName"]
        if "physicalLocation" not in place:
            continue
        physical = place["physicalLocation"]
        assert not physical["artifactLocation"]["uri"].startswith("/")
        assert " " not in physical["artifactLocation"]["uri"]
        assert physical["region"]["startLine"] >= 1
        assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
        assert all(one["kind"] in {"inSource", "external"} for one in result["suppressions"])


def test_each_signature_of_a_case_is_one_result_with_the_level_of_its_severity(document: Document) -> None:
    """Each signature of a case is one result; ``must`` is an error."""
    results = run_of(document)["results"]
    assert len(results) == sum(len(result.divergences) for result in document.results) == 8
    assert {result["level"] for result in results} == {"error"}
    assert {result["ruleId"] for result in results} == {
        "queue-choice/retry",
        "avoidance/avoidance",
    }


@pytest.mark.parametrize(("severity", "level"), [("must", "error"), ("should", "warning"), ("info", "note")])
def test_the_level_is_the_severity(document: Document, severity: str, level: str) -> None:
    """The level follows the severity, also for checks that do not gate."""
    results = tuple(replace(result, severity=Severity(severity)) for result in document.results)
    reported = results_of(msgspec.structs.replace(document, results=results))
    assert {result["level"] for result in reported} == {level}


def test_fingerprints_outlive_seed_time_and_count(document: Document) -> None:
    """Fingerprints differ by case and signature, not by seed, time or count."""
    later = msgspec.structs.replace(
        document,
        run=replace(document.run, run="20270101-000000-quick", seed=5, started_at="2027-01-01T00:00:00+00:00"),
        results=tuple(
            replace(result, divergences=tuple(replace(one, count=one.count + 3) for one in result.divergences))
            for result in document.results
        ),
    )
    first, second = ([result["partialFingerprints"] for result in run_of(one)["results"]] for one in (document, later))
    assert first == second
    assert len({one[GITHUBS] for one in first}) == len(first)
    assert len({one[SIGNATURE] for one in first}) == 2
    assert {one[SIGNATURE] for one in first} == {cluster.fingerprint for cluster in document.clusters}


def test_the_location_is_the_line_of_the_scenario_that_asks(document: Document) -> None:
    """The location is the scenario's line in the repository, or the scenario's name alone."""
    cases = tuple(replace(case, scenario_file="my scenarios/a.yaml", checks_line=17) for case in document.run.cases)
    known = msgspec.structs.replace(document, run=replace(document.run, cases=cases))
    place = run_of(known)["results"][0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "my%20scenarios/a.yaml"}, "region": {"startLine": 17}}
    (place,) = run_of(document)["results"][0]["locations"]
    assert "physicalLocation" not in place
    assert place["logicalLocations"][0]["fullyQualifiedName"].startswith("fault-latency/")


def test_a_declared_divergence_is_suppressed_with_its_reason(document: Document) -> None:
    """A declared divergence is unchanged and suppressed with a reason; others are new."""
    by_rule = {result["ruleId"].partition("/")[0]: result for result in run_of(declared(document))["results"]}
    known, news = by_rule["queue-choice"], by_rule["avoidance"]
    assert (known["baselineState"], news["baselineState"], news["suppressions"]) == ("unchanged", "new", [])
    (suppression,) = known["suppressions"]
    assert suppression["kind"] == "external" and suppression["status"] == "accepted"
    assert suppression["justification"].startswith("K1-stays: A retry stays on the failed broker.")


def test_a_declared_divergence_that_is_gone_is_absent(document: Document) -> None:
    """A stale entry is an absent result at its line of the ledger."""
    stale = msgspec.structs.replace(document, ledger=(outcome(EntryState.STALE),))
    (result,) = [one for one in run_of(stale)["results"] if one["ruleId"] == "stale-ledger-entry"]
    assert result["baselineState"] == "absent"
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "java.yaml"}, "region": {"startLine": 12}}


def test_a_divergence_under_a_broken_set_up_is_a_notification(document: Document) -> None:
    """An invalid case gives notifications instead of results."""
    broken = tuple(
        replace(result, verdict=Verdict.INVALID, reason="the pause was not proven") for result in document.results
    )
    run = run_of(msgspec.structs.replace(document, results=broken))
    assert run["results"] == []
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert notes[1]["level"] == "error"
    assert notes[1]["message"]["text"].endswith("INVALID: the pause was not proven")
    assert len(notes) <= sarif.NOTIFICATIONS_MOST


def test_a_crowd_is_cut_where_the_platforms_cut_it(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results are limited, new ones first, and the number left out is stated."""
    monkeypatch.setattr(sarif, "RESULTS_MOST", 50)
    first = declared(document).results
    row = next(result for result in document.results if result.check == "avoidance" and result.divergences)
    example = Example(at(Place.SEND, 1, 0, 0), "calm", "e" * 5_000, "o")
    crowd = replace(row, divergences=tuple(Divergence(f"kind/{n}", "java:5.3.3", n + 1, example) for n in range(80)))
    run = run_of(msgspec.structs.replace(document, results=(*first, crowd)))
    assert len(run["results"]) == 50
    assert {result["baselineState"] for result in run["results"]} == {"new"}
    assert run["properties"]["resultsLeftOut"] == 80 + 8 - 50
    assert all(len(result["message"]["text"]) < 1_500 for result in run["results"])


@pytest.mark.parametrize(
    ("signature", "rule", "title"),
    [
        (
            "queue.out-of-turn/first",
            "queue-choice/queue.out-of-turn",
            "The client takes a queue other than the one whose turn it is.",
        ),
        (
            "rules/queue.out-of-turn/retry",
            "queue-choice/rules/queue.out-of-turn",
            "The client takes a queue other than the one whose turn it is.",
        ),
        (
            "new-kind/first",
            "queue-choice/new-kind",
            "Every attempt goes to a queue that the rules of the client's release allow there.",
        ),
    ],
)
def test_a_rule_is_a_family_of_signatures_with_a_title(
    document: Document, signature: str, rule: str, title: str
) -> None:
    """A SARIF rule is a family of signatures; an unknown family has its check's title."""
    row = next(result for result in document.results if result.check == "queue-choice" and result.divergences)
    named = replace(row, divergences=(replace(row.divergences[0], signature=signature),))
    run = run_of(msgspec.structs.replace(document, results=(named,)))
    assert [result["ruleId"] for result in run["results"]] == [rule]
    (shown,) = run["tool"]["driver"]["rules"]
    assert (shown["id"], shown["shortDescription"]["text"]) == (rule, title)


def test_a_rule_leads_to_the_issue_that_a_ledger_names(document: Document) -> None:
    """A rule links to a known entry's issue even without the ledger; others have no link."""
    first = document.clusters[0]
    entry = KnownEntry("K16", "avoided for 10 s", "apache/rocketmq#6567, RIP-63")
    context = ExampleContext(first.fingerprint, str(first.weight), known=(entry,))
    rules = run_of(msgspec.structs.replace(document, contexts=(context,)))["tool"]["driver"]["rules"]
    assert [rule.get("helpUri") for rule in rules if rule["id"].startswith(first.check)] == [
        "https://github.com/apache/rocketmq/issues/6567"
    ]
    assert sum("helpUri" in rule for rule in rules) == 1


@pytest.mark.parametrize(("short_by", "shown"), [(0, 8), (1, 4), (1_000_000, 0)])
def test_the_upload_stays_below_its_size(document: Document, short_by: int, shown: int) -> None:
    """Gzipped, the upload fits: all results, half if one byte too large, at worst none."""
    most = max(10, len(gzip.compress(sarif.render(document))) - short_by)
    content = sarif.render(document, most)
    (run,) = json.loads(content)["runs"]
    assert (len(run["results"]), run["properties"]["resultsLeftOut"]) == (shown, 8 - shown)
    if shown:
        assert len(gzip.compress(content)) <= most
