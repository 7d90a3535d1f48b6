"""``python -m maintenance.bench``: output and downloads."""

import json

import pytest

from maintenance.bench import simulation
from maintenance.bench.__main__ import main
from rocketdiff.core.errors import HarnessError
from rocketdiff.releases.catalogue import client_releases


def test_all_parts_are_one_document(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With `--json` all parts are one document, and nothing else is printed."""
    monkeypatch.setattr("maintenance.bench.clients.bench", lambda *_, **__: {"rounds": []})
    monkeypatch.setattr("maintenance.bench.simulation.bench_simulation", lambda **_: {"speeds": []})
    monkeypatch.setattr("maintenance.bench.judging.bench_judging", lambda *_, **__: {"judging": []})
    assert main(["--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"rounds": [], "speeds": [], "judging": []}


def test_releases_are_fetched_before_the_clock_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases are fetched before the measurement, which must not include a download."""
    begun: list[object] = []

    def host() -> None:
        begun.append("host")
        raise HarnessError("a host", seen="enough")

    monkeypatch.setattr(simulation, "fetch_simulation", begun.append)
    monkeypatch.setattr(simulation, "JavaHost", host)
    with pytest.raises(HarnessError):
        simulation.measure()
    assert begun == [client_releases(), "host"]
