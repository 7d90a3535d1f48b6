"""The table of fault kinds and all that is derived from it."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from rocketdiff.cluster.faults.catalogue import FAULTS
from rocketdiff.core.tables.fault import (
    BY_SETTING,
    CLOSE_NO_CONNECTION,
    COST_NO_CONNECTION,
    FAULT_COUNTS,
    HOLD_ANSWERS_BACK,
    KILLS,
    NOT_MET_BY_SENDS,
    OF_PROXIES,
    OF_SLAVES,
    ON_THE_WIRE,
    FaultKind,
    FaultRecord,
    FaultSpec,
    Frames,
    RequestKind,
    fault_sentence,
    with_hits,
)
from rocketdiff.scenario.file_format import FaultPart

ROOT = Path(__file__).parents[2]


def test_kinds_are_grouped_by_what_does_them_and_to_whom() -> None:
    """Kinds of faults are grouped by means and by role."""
    assert {"kill", "move", "kill-slave", "kill-proxy"} == KILLS
    assert {"read-only", "flow-control", "flush-timeout"} == BY_SETTING
    assert {"wire-delay", "wire-reset", "wire-swallow"} == ON_THE_WIRE
    assert {"pause-slave", "kill-slave"} == OF_SLAVES
    assert {"pause-proxy", "kill-proxy"} == OF_PROXIES


def test_kinds_are_grouped_by_what_a_send_meets() -> None:
    """Faults of name servers and slaves, read-only and flush-timeout fail no send; kills and resets close connections."""
    assert {"pause-name-server", "pause-slave", "kill-slave", "read-only", "flush-timeout"} == NOT_MET_BY_SENDS
    assert {"flow-control"} == COST_NO_CONNECTION - NOT_MET_BY_SENDS
    assert {"pause", "pause-proxy", "wire-delay", "wire-swallow"} == HOLD_ANSWERS_BACK
    assert set(FaultKind) - CLOSE_NO_CONNECTION == {"kill", "move", "kill-proxy", "wire-reset"}


def test_a_kind_is_found_by_its_name() -> None:
    """A kind is found by its name in files and journals."""
    assert FaultKind("pause-slave") is FaultKind.PAUSE_SLAVE
    assert len(set(FAULT_COUNTS)) == len(FaultKind)


def test_each_kind_is_done_by_the_cluster_or_by_relays() -> None:
    """Each kind is done by the cluster or by relays, none by both."""
    assert set(FAULTS) | ON_THE_WIRE == set(FaultKind)
    assert not set(FAULTS) & ON_THE_WIRE


def test_every_kind_can_be_stated_in_a_scenario() -> None:
    """Every kind belongs to one part of the scenario format."""
    kinds = [
        kind for part in get_args(get_args(FaultPart)[0]) for kind in get_args(part.model_fields["kind"].annotation)
    ]
    assert sorted(kinds) == sorted(FaultKind)


def test_the_guide_to_scenarios_names_every_kind() -> None:
    """The guide to scenarios names every kind."""
    rows = [line for line in (ROOT / "fixtures" / "README.md").read_text().splitlines() if "`faults[].kind`" in line]
    assert len(rows) == 2
    assert all(f"`{kind}`" in "".join(rows) for kind in FaultKind)


ROW = """\
    SLOW_DISK = (
        "slow-disk",
        FaultTraits(
            Means.SETTING,
            NodeKind.BROKER,
            Effect.SILENCE,
            "slowed_brokers",
            begins="given a slow disk",
            ends="given its disk back",
            during="slow",
            sentence="given a slow disk",
        ),
    )
"""

HOW = """\
        FaultKind.SLOW_DISK: _Setting(
            "slowDisk",
            faulty="true",
            healthy="false",
            prove_faulty=lambda channels, node: None,
            prove_healthy=lambda channels, node: None,
        ),
"""

USE = """
import json
from rocketdiff.cluster.faults.catalogue import FAULTS
from rocketdiff.core.tables.fault import FaultKind, HOLD_ANSWERS_BACK, fault_counts, fault_sentence
from rocketdiff.core.answers.plots import FaultWindow
from rocketdiff.ledger import file as ledger_file
from rocketdiff.report.charts.timelines import fault_text
from rocketdiff.report.words.signs import phase_word
from rocketdiff.scenario import parse
from rocketdiff.scenario import loading

scenario = parse(SCENARIO, "planted")
(fault,) = scenario.faults
counts = fault_counts(scenario.faults)
print(json.dumps({
    "kind": fault.kind,
    "sentence": fault_sentence(fault),
    "lines": [fault.kind.traits.begins, fault.kind.traits.ends],
    "picture": fault_text(FaultWindow(1, fault.kind, fault.node, 1500, 3000)),
    "phase": phase_word("paused", counts),
    "in schemas": [b'"slow-disk"' in loading.schema(), b'"slowed_brokers"' in ledger_file.schema()],
    "done by the cluster": fault.kind in FAULTS,
    "holds answers back": fault.kind in HOLD_ANSWERS_BACK,
}))
"""

SCENARIO = """\
format: 1
name: planted/slow-disk
establishes: That a kind of fault needs nothing but its two rows.
topology: one-master
workload: {rate_per_s: 10, duration_s: 10}
faults: [{kind: slow-disk, broker: a, at_s: 1.5, for_s: 1.5}]
checks: [loss]
"""


def planted(path: Path, before: str, text: str) -> None:
    source = path.read_text()
    assert source.count(before) == 1
    path.write_text(source.replace(before, text + before))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__", "*.java", "_data")
    shutil.copytree(ROOT / "harness" / "rocketdiff", tmp_path / "rocketdiff", ignore=ignored)
    return tmp_path


def test_a_new_kind_touches_the_table_and_one_file_of_faults(copy: Path) -> None:
    """A new kind in the table and in one file of faults is in all formats, words, pictures and groups."""
    planted(copy / "rocketdiff" / "core" / "tables" / "fault.py", "    WIRE_DELAY = (\n", ROW)
    planted(
        copy / "rocketdiff" / "cluster" / "faults" / "setting_faults.py",
        "        FaultKind.FLUSH_TIMEOUT: _Setting(\n",
        HOW,
    )
    program = f"import sys; sys.path[:0] = [{str(copy)!r}]; SCENARIO = {SCENARIO!r}\n{USE}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == (
        '{"kind": "slow-disk", "sentence": "broker-a given a slow disk at 1.5 s for 1.5 s",'
        ' "lines": ["given a slow disk", "given its disk back"], "picture": "broker-a slow from 1.5 s to 3.0 s",'
        ' "phase": "slow", "in schemas": [true, true], "done by the cluster": true, "holds answers back": true}\n'
    )


@pytest.mark.parametrize(
    ("kind", "of", "frames", "sentence", "during"),
    [
        ("wire-swallow", "pull", "responses", "swallow pull answers", "with pull answers swallowed"),
        ("wire-reset", "offsets", "requests", "reset connections at offset requests", "with offset requests answered"),
        ("wire-delay", "send-back", "requests", "delay send-back requests by 80 ms", "send-back requests delayed"),
    ],
)
def test_words_name_the_requests_that_a_fault_hits(kind: str, of: str, frames: str, sentence: str, during: str) -> None:
    """A description and a picture's label."""
    spec = FaultSpec(1, FaultKind(kind), "broker-b", 3, 2, Frames(frames), 80, RequestKind(of))
    assert sentence in fault_sentence(spec)
    assert spec.hit is not None
    (fault,) = with_hits([FaultRecord(1, spec.kind, spec.node, 1, 2, 3)], {"1": spec.hit})
    assert during in fault.during
