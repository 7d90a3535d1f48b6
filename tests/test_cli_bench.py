"""`rocketdiff bench`: what a program reads."""

import json

import pytest

from harness import bench_simulation
from harness.cli import guarded
from harness.core.errors import ExitCode, HarnessError
from harness.releases.catalogue import client_releases


def test_all_parts_are_one_document(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With JSON nothing else is printed, whatever is measured."""
    monkeypatch.setattr("harness.bench.bench", lambda *_, **__: {"rounds": []})
    monkeypatch.setattr("harness.bench_simulation.bench_simulation", lambda **_: {"speeds": []})
    assert guarded(["bench", "--json"]) == ExitCode.CONFORMS
    assert json.loads(capsys.readouterr().out) == {"rounds": [], "speeds": []}


def test_releases_are_fetched_before_the_clock_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of all releases over the standard scripts is not to be that of a download."""
    begun: list[object] = []

    def host() -> None:
        begun.append("host")
        raise HarnessError("a host", seen="enough")

    monkeypatch.setattr(bench_simulation, "fetch_simulation", begun.append)
    monkeypatch.setattr(bench_simulation, "JavaHost", host)
    with pytest.raises(HarnessError):
        bench_simulation.measure()
    assert begun == [client_releases(), "host"]
