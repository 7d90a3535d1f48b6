"""What a subject file describes; its format is tested in tests/documents/test_file_formats.py."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.sending.steps.rulebook import rulebook_for
from rocketdiff.core.demand import SendDemand
from rocketdiff.core.errors import UsageError
from rocketdiff.core.resources import import_path
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.run.execute import plan_cases, require_possible
from rocketdiff.run.manifest import manifest_of
from rocketdiff.run.request import request_of
from rocketdiff.subjects.own.subject_file import read
from rocketdiff.subjects.registry import resolved
from tests.subjects.processes import program

FIXTURES = Path(__file__).parents[2] / "fixtures"
PROGRAM = Path(__file__).with_name("own.py")


def test_builds_are_written_as_on_the_command_line() -> None:
    """Paths of a build are relative to the file's folder; coordinates are unchanged."""
    folder = (FIXTURES / "subject-format" / "valid-pass").resolve()
    builds = [read(folder / f"{name}.yaml").build for name in ("jar", "folder", "class-path", "coordinates")]
    assert builds == [
        f"{folder}/target/client.jar@5.3.3",
        f"{folder}/dist/lib/",
        f"@{folder}/classpath.txt@5.3.3",
        "com.acme.mq:rocketmq-client:5.3.3-acme.7@5.3.3",
    ]


def test_a_program_of_a_file_runs_there_and_can_do_what_the_file_leaves_of_its_hello(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program runs in its file's folder; the file's timeout overrides hello's."""
    monkeypatch.setenv("PYTHONPATH", import_path())
    program(tmp_path / "driver", f'exec {shlex.join([sys.executable, str(PROGRAM)])} --name "$WHO" "$@"')
    (tmp_path / "known.yaml").write_text("format: 1\nentries: []\n")
    (tmp_path / "subject.yaml").write_text(
        "format: 1\nname: mine\ncommand: [./driver, --attempt-timeout, '2000']\nenvironment: {WHO: 'acme:7'}\n"
        "rules: '5.3.2'\nunsupported: [batch, oneway]\nattempt_timeout_ms: 4000\nledger: known.yaml\n"
    )
    subject = resolved(str(tmp_path / "subject.yaml"))
    assert (str(subject), subject.label, subject.attempt_timeout_ms) == ("acme:7", "mine", 4_000)
    calls = [(SendKind.PLAIN, SendMode.SYNC), (SendKind.BATCH, SendMode.SYNC), (SendKind.PLAIN, SendMode.ONEWAY)]
    assert [subject.offers(SendDemand(*call)) for call in calls] == [True, False, False]
    assert [*subject.checksums()] == ["driver"]
    request = request_of({"subject": ["java:5.3.3", str(tmp_path / "subject.yaml")]})
    assert request.judging.ledgers.files == (tmp_path / "known.yaml",)
    assert request.specs == ("java:5.3.3", str(tmp_path / "subject.yaml"))


def test_a_program_with_rules_can_be_the_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program with rules can be the baseline of another version; alone it is compared with their reference."""
    monkeypatch.setenv("PYTHONPATH", import_path())
    command = json.dumps([sys.executable, str(PROGRAM), "--name", "acme:1"])
    (tmp_path / "old.yaml").write_text(f"format: 1\ncommand: {command}\nrules: '4.9.8'\n")
    old, new = str(tmp_path / "old.yaml"), f"exec:{shlex.join([sys.executable, str(PROGRAM), '--name', 'acme:2'])}"
    request = request_of({"subject": [old, new], "scenario": ["round-robin/calm"], "seed": 1})
    require_possible(request)
    manifest = manifest_of(request, 1, plan_cases(request, 1))
    assert manifest.baseline_rules == "4.9.8"
    trace = CaseTrace("r", manifest.subjects, manifest.cases[0], {}, manifest.baseline_rules)
    assert {rules.release for rules in rulebook_for(trace).rules.values()} == {"4.9.8"}
    assert str(request_of({"subject": [old]}).candidate) == "python:4.9.8"
    with pytest.raises(UsageError, match="a baseline whose rules are known"):
        require_possible(request_of({"subject": [new, old]}))
