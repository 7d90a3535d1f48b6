"""`rocketdiff fuzz` fetches everything once, before it starts its workers."""

from pathlib import Path

import pytest

from rocketdiff.core.errors import ExitCode, UsageError
from rocketdiff.lab.fuzz import rounds as module
from rocketdiff.lab.fuzz.lockstep import Effort, FuzzOutcome
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
