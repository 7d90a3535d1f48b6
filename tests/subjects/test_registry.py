"""Known subjects, and messages for unknown ones."""

import pytest

from rocketdiff.core.demand import GroupDemand, SendDemand
from rocketdiff.core.errors import UsageError
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.subject import SubjectId
from rocketdiff.drivers.python.sending.reference import capabilities_of
from rocketdiff.subjects.kind import LabHost
from rocketdiff.subjects.registry import KINDS, known_subjects, lab_host_of, offers, program_of


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("java:5.3.9", "5.3.3"),
        ("python:1.0", "5.5.0"),
        ("toy:sings", "drops"),
        ("cpp:1.0", "2.1.0"),
        ("go:2.1.0", "2.1.2"),
        ("perl:1", "java:"),
    ],
)
def test_an_unknown_subject_is_a_usage_error_that_names_the_known(name: str, hint: str) -> None:
    """An unknown subject is a usage error with known ones."""
    with pytest.raises(UsageError) as raised:
        program_of(SubjectId.parse(name))
    assert hint in raised.value.hint


def test_every_known_subject_can_be_had() -> None:
    """Every listed subject has a program."""
    known = [SubjectId(client, release) for client, releases in known_subjects().items() for release in releases]
    assert [program_of(subject).subject for subject in known] == known


@pytest.mark.parametrize("release", known_subjects()["python"])
def test_a_batch_is_offered_where_the_release_claims_it(release: str) -> None:
    """The registry and hello agree on batches for every release."""
    claims = "batch" in capabilities_of(release)
    assert [offers(SubjectId(client, release), SendDemand(SendKind.BATCH)) for client in ("java", "python")] == [
        claims,
        claims,
    ]


def test_the_cpp_client_has_three_calls_and_java_all_but_groups() -> None:
    """The C++ client has three calls, with a sharding key's hash as only selector, synchronous; groups need gRPC."""
    every = {(kind, mode) for kind in SendKind for mode in SendMode}
    has = {
        name: {call for call in every if offers(SubjectId.parse(name), SendDemand(*call))}
        for name in ("cpp:2.1.0", "java:5.3.3")
    }
    sync, oneway = SendMode.SYNC, SendMode.ONEWAY
    assert has["cpp:2.1.0"] == {(SendKind.PLAIN, sync), (SendKind.PLAIN, oneway), (SendKind.SELECTOR, sync)}
    assert has["java:5.3.3"] == {(kind, mode) for kind, mode in every if kind is not SendKind.GROUP}


def test_a_selector_is_not_offered_for_so_many_queues_that_no_key_names_each() -> None:
    """The C++ client's selector needs queue counts that divide 5040, so that each queue has a key."""
    cpp = SubjectId.parse("cpp:2.1.0")
    assert offers(cpp, SendDemand(SendKind.SELECTOR, queue_counts=(4, 8, 12)))
    assert not offers(cpp, SendDemand(SendKind.SELECTOR, queue_counts=(11, 22)))
    assert offers(cpp, SendDemand(SendKind.PLAIN, queue_counts=(11, 22)))


@pytest.mark.parametrize(
    ("demand", "expected"),
    [
        (GroupDemand(("concurrent", "clustering"), ("consume_from_where", "heartbeat_broker_interval_ms")), True),
        (GroupDemand(("orderly", "clustering", "listener:later")), True),
        (GroupDemand(("concurrent", "clustering", "listener:level")), False),
        (GroupDemand(("concurrent", "clustering"), ("max_reconsume_times",)), False),
    ],
)
def test_the_cpp_client_is_a_member_with_settings_that_it_has(demand: GroupDemand, expected: bool) -> None:
    """How often it does something anyway may differ; what it does may not."""
    assert offers(SubjectId.parse("cpp:2.1.0"), demand) is expected


def test_each_kind_has_its_place_and_rules() -> None:
    """Only java and python have a lab host and rules; nobody has written other clients' rules."""
    hosts = {name: kind.lab_host for name, kind in KINDS.items() if kind.lab_host is not None}
    assert hosts == {"java": LabHost.CLASSES, "python": LabHost.RULES}
    rules = {name: SubjectId(name, "5.3.3").rules for name in KINDS}
    assert {name: known for name, known in rules.items() if known is not None} == dict.fromkeys(hosts, "5.3.3")


def test_an_unknown_client_has_no_limits() -> None:
    """An unknown client may have any call, as its hello states."""
    stranger = SubjectId("perl", "1.0.0")
    assert offers(stranger, SendDemand(SendKind.BATCH))
    assert lab_host_of(stranger) is None


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("java:4.5.2", False),
        ("java:4.6.0", False),
        ("java:4.6.1", True),
        ("java:5.5.0", True),
        ("python:4.6.0", False),
        ("python:4.6.1", True),
        ("cpp:2.1.0", False),
        ("toy:honest-member", False),
        ("toy:honest-poller", True),
    ],
)
def test_lite_pull_consumers_are_of_releases_that_can_begin(subject: str, expected: bool) -> None:
    """That of 4.6.0 cannot begin without an offset, earlier releases and the C++ client have none; a toy is of one kind."""
    demand = GroupDemand(("lite-pull", "clustering"), ("consume_from_where",))
    assert offers(SubjectId.parse(subject), demand) is expected
