"""A file's data becomes entries, or one sentence with what is wrong and where."""

import copy
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rocketdiff.core.answers.verdict import Severity
from rocketdiff.core.consuming.plan import ListenerKind
from rocketdiff.core.errors import UsageError
from rocketdiff.ledger.file import ParsedFile, parse
from rocketdiff.ledger.model import ExpectedRate, Party, Range

COMMITTED = Path(__file__).parents[2] / "fixtures" / "schema" / "ledger-1.json"
SPECIFIED: dict[str, Any] = {  # the example of the specification, section 2.4, verbatim
    "schemaVersion": "1.0",
    "defaults": {"expires_after_days": 180},
    "entries": [
        {
            "id": "RMQ-7779-sticky-fallback",
            "check": "select/fallback/**",
            "when": {
                "client": "java",
                "version": ">=4.0.0,<4.9.8 || >=5.0.0,<5.1.4",
                "fault": {"paused_brokers": ">=1"},
            },
            "arm_at_fault": "java",
            "signature": "fallback.shared-queue-mutated/first-diff=queue",
            "occurrence": "always",
            "severity": "must",
            "reason": "Fallback overwrote a queue object shared with the route table.",
            "ref": "apache/rocketmq#7779",
            "evidence": {"seed": 918273, "trace": f"sha256:{'0a' * 32}"},
            "added": date(2025, 1, 10),
            "owner": "team-messaging",
        }
    ],
}
Change = Callable[[dict[str, Any]], object]


def parsed(data: object) -> ParsedFile:
    return parse(data, "own.yaml", lambda location: f"own.yaml line {len(location)}")


def changed(change: Change) -> dict[str, Any]:
    data = copy.deepcopy(SPECIFIED)
    change(data)
    return data


def in_entry(**fields: object) -> dict[str, Any]:
    return changed(lambda data: data["entries"][0].update(fields))


def test_the_example_of_the_specification_is_read() -> None:
    """Every field of the specification's example is read."""
    (entry,) = parsed(SPECIFIED).entries
    assert (entry.id, entry.check, entry.arm_at_fault) == ("RMQ-7779-sticky-fallback", "select/fallback/**", "java")
    assert entry.when.subject == Party("java", Range.parse(">=4.0.0,<4.9.8 || >=5.0.0,<5.1.4"))
    assert (entry.when.against, entry.when.faults) == (None, (("paused_brokers", Range.parse(">=1")),))
    assert (entry.signatures, entry.rate) == (("fallback.shared-queue-mutated/first-diff=queue",), None)
    assert (entry.severity, entry.ref) == (Severity.MUST, "apache/rocketmq#7779")
    assert (entry.added, entry.expires) == (date(2025, 1, 10), date(2025, 7, 9))
    assert entry.evidence is not None
    assert (entry.evidence.seed, entry.evidence.trace) == (918_273, f"sha256:{'0a' * 32}")
    assert (entry.owner, entry.proposed, entry.place) == ("team-messaging", False, "own.yaml line 2")


def test_optional_parts_of_a_ledger_are_read() -> None:
    """A baseline, settings, a rate, several signatures and another expiry are read."""
    when: dict[str, object] = {"client": "cpp", "against": {"client": "java"}, "server": ">=5"}
    when |= {"settings": {"send_msg_timeout_ms": 500}, "consumer": {"listener": "orderly", "members": ">=2"}}
    more = in_entry(
        when=when, occurrence={"rate": [0.02, 0.2]}, signature=["a", "b"], arm_at_fault="cpp", expires_after_days=10
    )
    (entry,) = parsed(more).entries
    assert (entry.when.against, entry.when.settings) == (Party("java"), (("send_msg_timeout_ms", 500),))
    assert (entry.when.listener, entry.when.members) == (ListenerKind.ORDERLY, Range.parse(">=2"))
    assert (entry.rate, entry.signatures, entry.expires) == (ExpectedRate(0.02, 0.2), ("a", "b"), date(2025, 1, 20))


def test_a_proposal_may_leave_to_a_person_what_a_program_cannot_know() -> None:
    """A proposal may contain TODO for a person."""
    todo = {"arm_at_fault": "TODO", "reason": "TODO: why they differ, in a sentence", "ref": "TODO: an issue"}
    (entry,) = parsed(in_entry(**todo, status="proposed")).entries
    assert entry.proposed


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "expected a mapping with schemaVersion and entries at the top level (own.yaml line 0); saw nothing"),
        ([1], "saw list"),
        (changed(lambda d: d.pop("schemaVersion")), "the field schemaVersion at the top level"),
        (changed(lambda d: d.update(schemaVersion=1.0)), 'the text "1.0", in quotes at schemaVersion'),
        (changed(lambda d: d.update(entries=None)), "a list at entries (own.yaml line 1); saw null"),
        (changed(lambda d: d["entries"][0].pop("evidence")), "the evidence of an active entry at entries[0]"),
        (in_entry(check="a/java:1~python:1/b"), "without the pair of subjects"),
        (in_entry(check="a/b/validity"), "a check about the clients at entries[0].check"),
        (in_entry(when={"client": "java", "version": "4.x"}), "saw '4.x' in '4.x'"),
        (in_entry(when={"client": "java", "settings": {"send_timeout_ms": 1}}), "try: send_msg_timeout_ms"),
        (in_entry(when={"client": "java", "consumer": {"members": "many"}}), "expected a range such as"),
        (
            in_entry(signature="rules/queue.x", when={"client": "java", "against": {"client": "java"}}),
            "no baseline for rules/queue.x at entries[0].when.against",
        ),
        (in_entry(signature=[]), "at least 1 entry at entries[0].signature"),
        (in_entry(occurrence={"rate": [0.5, 0.2]}), "the lower share first at entries[0].occurrence.rate"),
    ],
)
def test_a_refused_ledger_is_one_sentence_with_its_place(data: object, message: str) -> None:
    """A refusal is one sentence with its place."""
    with pytest.raises(UsageError) as refused:
        parsed(data)
    assert message in str(refused.value)
    assert "own.yaml line" in str(refused.value)


def test_the_example_satisfies_the_published_schema_and_a_typing_error_does_not() -> None:
    """The published schema accepts the example and refuses a typing error."""
    published = json.loads(COMMITTED.read_bytes())
    as_json = json.loads(json.dumps(SPECIFIED, default=str))
    jsonschema.validate(as_json, published)
    as_json["entries"][0]["signatures"] = "x"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(as_json, published)
