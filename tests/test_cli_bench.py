"""`rocketdiff bench`: what a program reads."""

import json

import pytest

from harness.cli import guarded
from harness.core.errors import ExitCode


def test_all_parts_are_one_document(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With JSON nothing else is printed, whatever is measured."""
    monkeypatch.setattr("harness.bench.bench", lambda *_, **__: {"rounds": []})
    monkeypatch.setattr("harness.bench_simulation.bench_simulation", lambda **_: {"speeds": []})
    assert guarded(["bench", "--json"]) == ExitCode.CONFORMS
    assert json.loads(capsys.readouterr().out) == {"rounds": [], "speeds": []}
