"""`rocketdiff fuzz` fetches everything once, before it starts its workers."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rocketdiff.core.errors import ExitCode, HarnessError, UsageError
from rocketdiff.lab.fuzz import rounds as module
from rocketdiff.lab.fuzz.differences import FuzzDifference
from rocketdiff.lab.fuzz.lockstep import Effort, FuzzOutcome, script_of
from rocketdiff.lab.fuzz.rounds import run_rounds

RELEASES = ("4.9.8", "5.3.3", "5.5.0")
SMALL = Effort(decisions=10, sends=10, allocations=10, rounds=10)


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[str, ...]]]:
    """The stages begun and their releases, in order; nothing is fetched or started."""
    begun: list[tuple[str, tuple[str, ...]]] = []

    def fuzz(releases: tuple[str, ...], _effort: Effort, seed: int, *_: object) -> FuzzOutcome:
        begun.append(("workers", releases))
        return FuzzOutcome(releases, seed)

    monkeypatch.setattr(module, "fetch_simulation", lambda releases: begun.append(("fetch", releases)))
    monkeypatch.setattr(module, "fuzz", fuzz)
    return begun


def test_all_releases_are_fetched_once_before_the_workers_start(stages: list[object], tmp_path: Path) -> None:
    """All releases are fetched once before the workers, which would wait for each other."""
    assert run_rounds(RELEASES, SMALL, 7, tmp_path, as_json=False).code is ExitCode.CONFORMS
    assert stages == [("fetch", RELEASES), ("workers", RELEASES)]


def test_nothing_is_fetched_for_a_campaign_that_is_refused(stages: list[object], tmp_path: Path) -> None:
    """A campaign without work or output folder is refused before anything is fetched."""
    with pytest.raises(UsageError, match="something to do"):
        run_rounds(RELEASES, Effort(0, 0, allocations=0, rounds=0), 7, tmp_path, as_json=False)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match="a folder to save scripts in"):
        run_rounds(RELEASES, SMALL, 7, tmp_path / "file" / "found", as_json=False)
    assert stages == []


def test_findings_are_saved_when_the_work_breaks_off(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A host that falls silent, or Ctrl-C, loses none of the differences that were found before."""
    found = FuzzDifference("fuzz-consumer-777000013", "5.3.1", "of 5.3.1", 3, "a", "b")

    def fuzz(
        releases: tuple[str, ...], _: Effort, seed: int, _workers: int, progress: Callable[[FuzzOutcome], None]
    ) -> None:
        progress(FuzzOutcome(releases, seed, found=[found]))
        raise HarnessError("the Java host to answer", seen="60 s of silence")

    monkeypatch.setattr(module, "fetch_simulation", lambda _: None)
    monkeypatch.setattr(module, "fuzz", fuzz)
    with pytest.raises(HarnessError, match="silence"):
        run_rounds(RELEASES, SMALL, 7, tmp_path, as_json=False)
    (file,) = tmp_path.iterdir()
    assert json.loads(file.read_text()) == script_of(found.script)
    assert str(file) in capsys.readouterr().err
