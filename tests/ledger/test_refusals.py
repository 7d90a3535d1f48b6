"""A wrong ledger is refused with place, expectation and suggestion, for every field and part."""

import copy
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.ledger.file import parse, refusals
from tests.ledger.test_file import SPECIFIED

AGAINST = {"client": "java", "version": ">=5"}


def place(location: tuple[str | int, ...]) -> str:
    return "own.yaml " + "/".join(map(str, location))


def with_entry(**fields: object) -> dict[str, Any]:
    data = copy.deepcopy(SPECIFIED)
    data["entries"][0].update(fields)
    return data


def refused(data: object) -> str:
    with pytest.raises(UsageError) as error:
        parse(data, "own.yaml", place)
    return str(error.value)


@pytest.mark.parametrize(
    ("fields", "where", "meant"),
    [
        ({"owners": "x"}, ("entries", 0, "owners"), "owner"),
        ({"when": {"client": "java", "serversion": "1"}}, ("entries", 0, "when", "serversion"), "version"),
        ({"when": {"client": "java", "setings": {}}}, ("entries", 0, "when", "setings"), "settings"),
        ({"when": {"client": "java", "against": {"client": "java", "versoin": "1"}}}, ("entries", 0, "when", "against", "versoin"), "version"),
        ({"occurrence": {"rate": [0, 1], "rates": 1}}, ("entries", 0, "occurrence", "rates"), "rate"),
        ({"evidence": {"seed": 1, "reproduced": "x"}}, ("entries", 0, "evidence", "reproduced"), "reproduce"),
    ],
)  # fmt: skip
def test_an_unknown_field_is_refused_with_the_nearest_of_its_part(
    fields: dict[str, object], where: tuple[str | int, ...], meant: str
) -> None:
    """An unknown field is refused with the nearest one of the same part."""
    output = refused(with_entry(**fields))
    assert f"({place(where)})" in output
    assert output.endswith(f"try: {meant}")


def test_an_unknown_field_of_the_file_or_its_defaults_is_refused() -> None:
    """An unknown field of the file or its defaults is refused, with a hint if a known one is similar."""
    assert refused(SPECIFIED | {"ratchets": 3}).endswith("try: ratchet")
    assert refused(SPECIFIED | {"defaults": {"expires_after_day": 3}}).endswith("try: expires_after_days")
    assert refused(SPECIFIED | {"schemaVersions": 3}).endswith("try: schemaVersion")
    output = refused(with_entry(zzz=1))
    assert "expected one of the fields id, check, when, arm_at_fault, signature, occurrence" in output
    assert output.endswith("saw 'zzz'")


@pytest.mark.parametrize(
    ("fields", "expected", "where", "seen"),
    [
        ({"id": "with blank"}, "an id of letters, digits, dots and hyphens", "entries[0].id", "'with blank'"),
        ({"id": ""}, "an id of letters, digits, dots and hyphens", "entries[0].id", "''"),
        ({"check": "loss"}, "a glob over <scenario>/<check>", "entries[0].check", "'loss'"),
        ({"when": {"client": "java", "fault": {"paused": "1"}}}, "one of paused_brokers", "entries[0].when.fault.paused", "paused"),
        ({"when": {"client": "java", "consumer": {"listener": "serial"}}}, "one of concurrent, orderly", "entries[0].when.consumer.listener", "'serial'"),
        ({"occurrence": "never"}, "always, or {rate: [0.02, 0.20]}", "entries[0].occurrence", "'never'"),
        ({"severity": "high"}, "must, should or info", "entries[0].severity", "'high'"),
        ({"status": "done"}, "active or proposed", "entries[0].status", "'done'"),
        ({"reason": "short"}, "a sentence of at least 20 characters", "entries[0].reason", "'short'"),
        ({"ref": "x"}, "an issue, a pull request or a page", "entries[0].ref", "'x'"),
        ({"added": "soon"}, "a date such as 2026-11-21", "entries[0].added", "'soon'"),
        ({"evidence": {"seed": 1, "trace": "x"}}, "sha256: and 64 hexadecimal digits", "entries[0].evidence.trace", "'x'"),
        ({"owner": 7}, "text", "entries[0].owner", "7"),
        ({"evidence": {"seed": -1}}, "at least 0", "entries[0].evidence.seed", "-1"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_with_the_expected_kind(
    fields: dict[str, object], expected: str, where: str, seen: str
) -> None:
    """A wrong value is refused with what the field should hold."""
    output = refused(with_entry(**fields))
    assert output.startswith(f"expected {expected}")
    assert f" at {where} (" in output
    assert seen in output.partition("; saw ")[2]
    assert "`" not in output


def test_a_missing_field_is_refused_by_its_name() -> None:
    """A missing field is refused by its name."""
    data = with_entry()
    del data["entries"][0]["ref"]
    assert refused(data) == f"expected the field ref at entries[0] ({place(('entries', 0))}); saw nothing; try: add ref"


@pytest.mark.parametrize(
    ("when", "where"),
    [
        ({"version": "x"}, ("version",)),
        ({"server": "x"}, ("server",)),
        ({"against": {"client": "java", "version": "x"}}, ("against", "version")),
        ({"fault": {"paused_brokers": "x"}}, ("fault", "paused_brokers")),
        ({"settings": {"no_such_setting": 1}}, ("settings", "no_such_setting")),
    ],
)
def test_an_unreadable_condition_is_refused_at_its_place(when: dict[str, object], where: tuple[str, ...]) -> None:
    """An unreadable condition is refused at its place."""
    output = refused(with_entry(when={"client": "java", **when}))
    assert f"({place(('entries', 0, 'when', *where))})" in output


@pytest.mark.parametrize("field", ["arm_at_fault", "reason", "ref"])
def test_an_active_entry_has_nothing_left_to_do(field: str) -> None:
    """An active entry with TODO in one of three fields is refused, and the field is named."""
    text = "TODO: a sentence that somebody has to write"
    output = refused(with_entry(**{field: text}))
    assert output.startswith(f"expected the {field} of an active entry at entries[0].{field} (")


@pytest.mark.parametrize("arm", ["java", "cpp", "reference", "baseline", "candidate", "both", "spec-gap"])
def test_either_client_each_arm_or_neither_may_be_at_fault(arm: str) -> None:
    """A client, an arm, both or neither may be at fault; others are refused."""
    when = {"client": "java", "against": {"client": "cpp"}}
    file = parse(with_entry(when=when, arm_at_fault=arm), "own.yaml", place)
    assert file.entries[0].arm_at_fault == arm
    output = refused(with_entry(when=when, arm_at_fault="rust"))
    assert (
        "expected one of java, cpp, reference, baseline, candidate, both, spec-gap at entries[0].arm_at_fault" in output
    )


@pytest.mark.parametrize("arm", ["rust", "java"])
def test_without_a_baseline_anybody_may_be_at_fault(arm: str) -> None:
    """Without ``against`` anybody may be at fault."""
    assert parse(with_entry(arm_at_fault=arm), "own.yaml", place).entries[0].arm_at_fault == arm


@pytest.mark.parametrize(("version", "is_read"), [("1.0", True), ("1.7", True), ("2.0", False), ("10.0", False)])
def test_every_file_of_the_first_major_version_is_read(version: str, is_read: bool) -> None:
    """Every file of major version 1 is read, and no other."""
    data = SPECIFIED | {"schemaVersion": version}
    if is_read:
        assert len(parse(data, "own.yaml", place).entries) == 1
    else:
        assert f"saw '{version}'; try: this rocketdiff reads no other major version of the ledger" in refused(data)


def test_a_duplicate_id_is_reported_at_its_second_place() -> None:
    """A duplicate id is reported at its second place."""
    data = with_entry()
    data["entries"] += [data["entries"][0] | {"id": "other"}, dict(data["entries"][0])]
    assert place(("entries", 2, "id")) in refused(data)


def test_a_reason_over_several_lines_is_one_sentence() -> None:
    """A reason on several lines becomes one sentence."""
    folded = with_entry(reason="Fallback overwrote\n  a queue object.", expires_after_days=1)
    (entry,) = parse(folded, "own.yaml", place).entries
    assert (entry.reason, entry.expires) == ("Fallback overwrote a queue object.", date(2025, 1, 11))
    assert (entry.place, entry.when.server) == (place(("entries", 0)), None)


def test_a_rate_may_be_one_figure_and_not_fall() -> None:
    """The limits of a rate may be equal but must not fall."""
    (entry,) = parse(with_entry(occurrence={"rate": [0.5, 0.5]}), "own.yaml", place).entries
    assert entry.rate is not None
    assert (entry.rate.low, entry.rate.high) == (0.5, 0.5)
    assert "saw [0.5, 0.25]" in refused(with_entry(occurrence={"rate": [0.5, 0.25]}))


def messages(data: object) -> Iterator[str]:
    return (str(one) for one in refusals(data, place))


def test_every_wrong_entry_is_reported_at_once() -> None:
    """Each wrong entry is one error at its own place."""
    good, bad = SPECIFIED["entries"][0], {"severity": "high"}
    active = {"reason": "TODO: why they differ, in a sentence"}
    first, second = messages(SPECIFIED | {"entries": [good | bad, good, good | active]})
    assert f"must, should or info at entries[0].severity ({place(('entries', 0, 'severity'))})" in first
    assert f"the reason of an active entry at entries[2].reason ({place(('entries', 2, 'reason'))})" in second


@pytest.mark.parametrize("data", [None, [1], "entries", {}, {"entries": None}, {"entries": "x"}, SPECIFIED])
def test_valid_entries_have_no_errors(data: object) -> None:
    """Data without a wrong entry has no entry errors."""
    assert list(messages(data)) == []


@pytest.mark.parametrize("days", [{}, {"expires_after_days": 180}])
def test_a_date_at_the_end_of_the_calendar_has_no_expiry(days: dict[str, int]) -> None:
    """The date 9999-12-31 is refused, because 180 days cannot be added to it."""
    output = refused(with_entry(added=date.max, **days))
    assert output.startswith("expected a date that 180 days can be added to at entries[0].added (")
    assert output.endswith("saw 9999-12-31")
