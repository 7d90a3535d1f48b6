"""Unusable files and folders, and what a loaded scenario holds."""

from pathlib import Path

import pytest

from rocketdiff.core.case import Tolerance
from rocketdiff.core.errors import UsageError
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.tables.fault import FaultKind, FaultSpec, Frames, fault_sentence
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.scenario import load, load_all, parse

VALID_PASS = Path(__file__).parents[2] / "fixtures" / "format" / "valid-pass"


def test_every_field_of_a_file_is_loaded() -> None:
    """Every field of the fullest file is loaded."""
    scenario = load(VALID_PASS / "everything.yaml")
    assert scenario.establishes == "Every field of the format at once, folded into one line."
    assert scenario.settings == ClientSettings(True, 500, 10, 2, True, 1024, 1000, 600_000, 100, 4_096)
    assert (scenario.workload.threads, scenario.workload.call, scenario.workload.body_bytes) == (
        3,
        SendKind.PLAIN,
        (1, 4096),
    )
    assert (scenario.sends, scenario.duration_s, scenario.episodes) == (666, 20, 6)
    assert scenario.tolerances[1] == Tolerance(
        "failover-time", 1.5, "One slot of the closed loop, 90 ms, on top of half a second."
    )


def test_repeats_are_written_out_by_time() -> None:
    """Repeated faults are written out as ten episodes in order of time, counted from 1."""
    faults = load(VALID_PASS / "everything.yaml").faults
    assert faults[:4] == (
        FaultSpec(1, FaultKind.PAUSE, "broker-b", 1, 0.6),
        FaultSpec(2, FaultKind.PAUSE_NAME_SERVER, "name-server-2", 1, 0.5),
        FaultSpec(3, FaultKind.PAUSE, "broker-a", 2, 0.5),
        FaultSpec(4, FaultKind.PAUSE_NAME_SERVER, "name-server-2", 2, 0.5),
    )
    assert [fault.at_s for fault in faults if fault.node == "broker-b"] == [1, 3, 5, 7, 9, 12]
    assert faults[-2:] == (
        FaultSpec(9, FaultKind.KILL, "broker-b", 12, 2),
        FaultSpec(10, FaultKind.KILL, "broker-a", 19, None),
    )


def test_faults_on_the_wire_have_a_direction() -> None:
    """Each fault on the wire has its direction, and a delay its length."""
    faults = load(VALID_PASS / "on-the-wire.yaml").faults
    assert faults == (
        FaultSpec(1, FaultKind.WIRE_DELAY, "broker-b", 1.5, 1, Frames.RESPONSES, 500.0),
        FaultSpec(2, FaultKind.WIRE_DELAY, "broker-b", 3.5, 1, Frames.RESPONSES, 500.0),
        FaultSpec(3, FaultKind.WIRE_RESET, "broker-a", 6, 0.5, Frames.RESPONSES),
        FaultSpec(4, FaultKind.WIRE_SWALLOW, "broker-b", 6, 0.3, Frames.REQUESTS),
    )


def test_defaults_are_the_clients_own() -> None:
    """An omitted field has RocketMQ's default."""
    scenario = load(VALID_PASS / "smallest.yaml")
    assert scenario.settings == ClientSettings()
    assert (scenario.queues_per_broker, scenario.suites, scenario.faults) == (4, ("full",), ())


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (FaultSpec(1, FaultKind.PAUSE, "broker-b", 1.5, 1.0), "broker-b paused at 1.5 s for 1 s"),
        (FaultSpec(1, FaultKind.PAUSE_NAME_SERVER, "name-server-1", 1, 3), "name-server-1 paused at 1 s for 3 s"),
        (FaultSpec(1, FaultKind.KILL, "broker-a", 2, None), "broker-a killed at 2 s for good"),
        (FaultSpec(1, FaultKind.KILL, "broker-a", 2, 1), "broker-a killed at 2 s and restarted after 1 s"),
        (
            FaultSpec(1, FaultKind.MOVE, "broker-a", 2, 1),
            "broker-a killed at 2 s and restarted on another port after 1 s",
        ),
        (
            FaultSpec(1, FaultKind.WIRE_DELAY, "broker-b", 1.5, 1, Frames.RESPONSES, 500.0),
            "broker-b kept behind relays that delay responses by 500 ms at 1.5 s for 1 s",
        ),
        (
            FaultSpec(1, FaultKind.WIRE_SWALLOW, "broker-b", 1.5, 1, Frames.REQUESTS),
            "broker-b kept behind relays that swallow requests at 1.5 s for 1 s",
        ),
        (FaultSpec(1, FaultKind.KILL_SLAVE, "broker-a-slave-1", 2, None), "broker-a-slave-1 killed at 2 s for good"),
        (FaultSpec(1, FaultKind.PAUSE_SLAVE, "broker-a-slave-1", 2, 1), "broker-a-slave-1 paused at 2 s for 1 s"),
        (FaultSpec(1, FaultKind.READ_ONLY, "broker-a", 2, 1), "broker-a made read-only at 2 s for 1 s"),
        (FaultSpec(1, FaultKind.FLOW_CONTROL, "broker-a", 2, 1), "broker-a made to answer SYSTEM_BUSY at 2 s for 1 s"),
    ],
)
def test_a_fault_is_described_in_a_sentence(fault: FaultSpec, sentence: str) -> None:
    """A fault is described in a sentence."""
    assert fault_sentence(fault) == sentence


def test_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    """A missing file is a usage error with path and reason."""
    with pytest.raises(UsageError, match=r"none\.yaml; saw No such file"):
        load(tmp_path / "none.yaml")


def test_file_that_is_not_text_is_a_usage_error(tmp_path: Path) -> None:
    """A file that is not UTF-8 is a usage error."""
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not UTF-8 on line"):
        load(tmp_path / "binary.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("format: 1\n  name: x\n", "YAML in bad.yaml line 2"),
        ("format: [1\n", "YAML in bad.yaml line 2"),
        ("--- {}\n--- {}\n", "YAML in bad.yaml line 2"),
        ("name: !!python/object:os.system x\n", "YAML in bad.yaml line 1"),
        ("name: \x07\n", "YAML in bad.yaml"),
        ("format: 1\nname: a\nname: b\n", "'name' again on line 3"),
        ("format: 1\nname: &a [*a]\n", "at most 32 levels"),
    ],
)
def test_text_that_is_no_yaml_is_a_usage_error(text: str, message: str) -> None:
    """Invalid YAML is a usage error with its line; code in it is never run."""
    with pytest.raises(UsageError) as raised:
        parse(text, "bad.yaml")
    assert message in str(raised.value)


def test_line_is_that_of_the_wrong_value() -> None:
    """In block style the message has the line of the wrong value."""
    text = (
        "format: 1\nname: a/b\nestablishes: Lines are counted from one.\ntopology: two-masters\n"
        "workload:\n  rate_per_s: 10\n  duration_s: 10\nchecks: [loss]\n"
        "faults:\n  - kind: pause\n    broker: b\n    at_s: 1\n    for_s: 1\n  - kind: kill\n    broker: z\n    at_s: 5\n"
    )
    with pytest.raises(UsageError, match=r"faults\[1\]\.broker \(x\.yaml line 15\)"):
        parse(text, "x.yaml")


def test_several_mistakes_are_one_message_and_a_count() -> None:
    """Of several mistakes the first is described, the others are counted."""
    text = "format: 1\nname: X\nestablishes: short\ntopology: moon\nworkload: {rate_per_s: 1, duration_s: 1}\nchecks: [loss]\n"
    with pytest.raises(UsageError, match="2 more to correct after this one"):
        parse(text, "x.yaml")


def test_folder_without_scenarios_is_a_usage_error(tmp_path: Path) -> None:
    """A folder without scenarios is refused, because running nothing must not pass."""
    with pytest.raises(UsageError, match="scenario files"):
        load_all(tmp_path)


def test_a_file_of_ones_own_may_lie_anywhere(tmp_path: Path) -> None:
    """A scenario's name is in its file, which may lie anywhere."""
    (tmp_path / "conformance").mkdir()
    (tmp_path / "conformance" / "other.yaml").write_text((VALID_PASS / "smallest.yaml").read_text())
    assert [scenario.name for scenario in load_all(tmp_path)] == ["self-test/smallest"]


def test_two_files_with_one_name_are_refused_with_both(tmp_path: Path) -> None:
    """Two scenarios with one name are refused, because it selects them and names their results."""
    for name in ("one.yaml", "two.yaml"):
        (tmp_path / name).write_text((VALID_PASS / "smallest.yaml").read_text())
    with pytest.raises(UsageError, match=r"self-test/smallest is the one of .*one\.yaml; saw it again in .*two\.yaml"):
        load_all(tmp_path)


@pytest.mark.parametrize(("more", "is_refused"), [(0, False), (1, True)])
def test_properties_have_a_common_limit(more: int, is_refused: bool) -> None:
    """Names and values of 65,536 bytes can be asked for, as a message that is too large; more is refused with its size."""
    smallest = (
        (VALID_PASS / "smallest.yaml")
        .read_text("utf-8")
        .replace("workload: {", "workload: {properties: {PROPERTIES}, ")
    )
    properties = [f"p{number:02}: {'v' * 997}" for number in range(65)]
    properties.append(f"p65: {'ä' * 266}{'v' * (1 + more)}")
    text = smallest.replace("PROPERTIES", ", ".join(properties))
    if is_refused:
        with pytest.raises(
            UsageError, match=r"at most 65,536 bytes together at workload.properties.*; saw 65,537 bytes"
        ):
            parse(text, "own.yaml")
    else:
        assert len(parse(text, "own.yaml").workload.properties) == 66
