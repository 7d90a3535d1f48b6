"""An entry's conditions, together and alone."""

from dataclasses import replace

import pytest

from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.consuming.plan import ListenerKind
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.ledger.apply import apply_ledger
from rocketdiff.ledger.matching import covers, declares, is_expected, meets, subjects_of
from rocketdiff.ledger.model import Conditions, EntryState, Ledger, Party, Range
from tests.ledger.ledger_entries import BOTH, ENTRY, NEW, OLD, ONE, RUN, divergence, entry, result
from tests.ledger.test_matching import run

FAULTS = {"paused_brokers": 1, "killed_brokers": 0}
SETTINGS = {"send_latency_fault_enable": True, "send_msg_timeout_ms": 500}


def conditions(faults: dict[str, str], settings: dict[str, object]) -> Conditions:
    asked = tuple((name, Range.parse(text)) for name, text in faults.items())
    return Conditions(Party("java"), faults=asked, settings=tuple(settings.items()))


@pytest.mark.parametrize(
    ("faults", "settings", "is_met"),
    [
        ({}, {}, True),
        ({"paused_brokers": ">=1"}, {}, True),
        ({"paused_brokers": ">=2"}, {}, False),
        ({"paused_brokers": ">=1", "killed_brokers": "0"}, {}, True),
        ({"paused_brokers": ">=1", "killed_brokers": ">=1"}, {}, False),
        ({"paused_brokers": ">=1", "delayed_brokers": ">=0"}, {}, False),
        ({}, {"send_msg_timeout_ms": 500}, True),
        ({}, {"send_msg_timeout_ms": 3_000}, False),
        ({}, {"send_msg_timeout_ms": 500, "send_latency_fault_enable": True}, True),
        ({}, {"send_msg_timeout_ms": 500, "send_latency_fault_enable": False}, False),
        ({}, {"send_msg_timeout_ms": 500, "retry_times": 2}, False),
        ({"paused_brokers": ">=1"}, {"send_msg_timeout_ms": 500}, True),
        ({"paused_brokers": ">=2"}, {"send_msg_timeout_ms": 500}, False),
        ({"paused_brokers": ">=1"}, {"send_msg_timeout_ms": 3_000}, False),
    ],
)
def test_all_faults_and_settings_must_hold(faults: dict[str, str], settings: dict[str, object], is_met: bool) -> None:
    """All conditions on faults and settings must hold."""
    asked = conditions(faults, settings)
    assert meets(asked, settings=SETTINGS, fault_counts=FAULTS, group={}) is is_met


@pytest.mark.parametrize(
    ("listener", "members", "group", "is_met"),
    [
        (None, None, {}, True),
        ("concurrent", None, {"listener": "concurrent", "members": 1}, True),
        ("orderly", None, {"listener": "concurrent", "members": 1}, False),
        (None, ">=2", {"listener": "concurrent", "members": 2}, True),
        (None, ">=2", {"listener": "concurrent", "members": 1}, False),
        ("orderly", ">=2", {"listener": "orderly", "members": 3}, True),
        ("orderly", None, {}, False),
        (None, ">=0", {}, False),
    ],
)
def test_a_group_must_have_the_listener_and_as_many_members(
    listener: str | None, members: str | None, group: dict[str, object], is_met: bool
) -> None:
    """Conditions on the group of consumers must hold; a case without a group meets none."""
    asked = Conditions(
        Party("java"),
        listener=None if listener is None else ListenerKind(listener),
        members=None if members is None else Range.parse(members),
    )
    assert meets(asked, settings={}, fault_counts={}, group=group) is is_met


@pytest.mark.parametrize(("members", "is_covered"), [(1, False), (2, True)])
def test_the_group_of_a_case_is_what_its_report_states(members: int, is_covered: bool) -> None:
    """An entry about consumers covers a case by the members in its report, and never a pool or a case about producers."""
    mine = entry(check="**", when=Conditions(Party("java"), members=Range.parse(">=2")))
    producers = replace(RUN.cases[0], workload={"members": members})
    consumers = replace(producers, role=ClientRole.CONSUMER)
    assert covers(mine, "consuming/x/delivered", consumers) is is_covered
    assert not covers(mine, "consuming/x/delivered", producers)
    assert not covers(mine, "pooled/pause/groups/resume-time", None)


@pytest.mark.parametrize(
    ("faults", "settings", "is_covered"),
    [
        ({}, {}, True),
        ({"paused_brokers": ">=1"}, {}, False),
        ({}, {"send_msg_timeout_ms": 500}, False),
        ({"paused_brokers": ">=1"}, {"send_msg_timeout_ms": 500}, False),
    ],
)
def test_a_pool_meets_neither_a_fault_nor_a_setting(
    faults: dict[str, str], settings: dict[str, object], is_covered: bool
) -> None:
    """A pool meets no condition on faults or settings, because it mixes them."""
    pooled = entry(check="pooled/**", when=conditions(faults, settings))
    assert covers(pooled, "pooled/x/timing", None) is is_covered


@pytest.mark.parametrize("path", ["latency/validity", "validity", "pooled/x/validity"])
def test_the_set_up_is_covered_by_no_entry(path: str) -> None:
    """No entry covers ``validity``, in a case or a pool."""
    assert not covers(entry(check="**"), path, RUN.cases[0])
    assert not covers(entry(check="**"), path, None)
    assert covers(entry(check="**"), f"{path}-of-something", None)


@pytest.mark.parametrize(
    ("signature", "subject", "is_declared"),
    [
        ("avoidance.used/first", NEW, True),
        ("avoidance.used/first", OLD, False),
        ("avoidance.used/retry", NEW, False),
        ("avoidance.used/retry", OLD, False),
    ],
)
def test_a_divergence_is_declared_by_its_signature_and_its_subject(
    signature: str, subject: str, is_declared: bool
) -> None:
    """A divergence is declared by signature and subject, both verbatim."""
    assert declares(ENTRY, divergence(signature, subject), frozenset({NEW})) is is_declared


RULES, OWN = "rules/queue.x", "avoidance.used/first"


@pytest.mark.parametrize(
    ("baseline", "candidate", "signatures", "expected"),
    [
        ("java:5.3.3", "python:5.3.3", (OWN,), False),
        ("java:5.3.3", "python:5.3.3", (RULES,), True),
        ("java:5.3.3", "python:5.3.3", (OWN, RULES), True),
        ("python:5.3.3", "java:5.3.3", (OWN,), True),
        ("python:5.3.3", "java:5.3.3", (RULES,), False),
        ("python:5.3.3", "java:5.3.3", (OWN, RULES), True),
        ("python:5.3.3", "python:5.3.3", (OWN, RULES), False),
        ("java:5.3.3", "java:5.3.3", (RULES,), True),
        ("java:5.3.3", "java:5.3.3", (OWN,), True),
    ],
)
def test_expected_differences_depend_on_the_clients_arm(
    baseline: str, candidate: str, signatures: tuple[str, ...], expected: bool
) -> None:
    """A difference is expected of the candidate, and ``rules/`` signatures of the baseline."""
    java = entry(when=Conditions(Party("java")), signatures=signatures)
    assert is_expected(java, run(baseline, candidate)) is expected


def test_an_entry_of_other_brokers_is_silent() -> None:
    """An entry of other brokers is neither declared nor stale, and not listed."""
    elsewhere = entry(when=replace(ENTRY.when, server=Range.parse("<5.0.0")))
    before = (result(ONE, divergence()), result(BOTH))
    done = apply_ledger(Ledger((elsewhere,)), before, RUN, Policy())
    assert (done.results, done.outcomes) == (before, ())
    assert subjects_of(elsewhere, RUN) == frozenset()


def test_an_entry_whose_client_is_the_baseline_speaks_only_where_it_was_seen() -> None:
    """A difference of the baseline is never expected, so its entry is listed only where seen."""
    old = entry(when=Conditions(Party("java", Range.parse("<5"))))
    seen = (result(ONE, divergence(subject=OLD)), result(BOTH))
    assert apply_ledger(Ledger((old,)), (result(ONE), result(BOTH)), RUN, Policy()).outcomes == ()
    (outcome,) = apply_ledger(Ledger((old,)), seen, RUN, Policy()).outcomes
    assert (outcome.state, outcome.seen, outcome.decisive, outcome.missing) == (EntryState.DECLARED, 1, 2, ())


@pytest.mark.parametrize(
    ("arm", "is_shared"),
    [("both", True), ("spec-gap", True), ("java", False), ("reference", False), ("baseline", False)],
)
def test_a_fault_of_both_clients_is_shared(arm: str, is_shared: bool) -> None:
    """A fault of both clients, or a gap in the specification, is shared."""
    (outcome,) = apply_ledger(Ledger((entry(arm_at_fault=arm),)), (result(ONE, divergence()),), RUN, Policy()).outcomes
    assert (outcome.is_shared, outcome.seen_text) == (is_shared, "seen in 1 of 1 decisive check")
