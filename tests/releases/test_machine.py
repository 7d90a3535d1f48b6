"""Search for programs of the machine."""

from pathlib import Path

import pytest

from rocketdiff.releases.machine import chromium, container_engine


def put_program(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_any_of_the_browsers_will_do(path: Path) -> None:
    """Any of the browser names is accepted, because systems differ."""
    assert chromium() is None
    put_program(path, "google-chrome", "exit 0")
    assert chromium() == path / "google-chrome"


def test_an_engine_without_a_daemon_is_not_running(path: Path) -> None:
    """An engine without a daemon has no version, and its error is kept."""
    put_program(path, "docker", "echo cannot connect >&2; exit 1")
    engine = container_engine()
    assert engine.version is None
    assert engine.seen == f"{path / 'docker'} is installed, but: cannot connect"


def test_the_engine_that_answers_is_taken(path: Path) -> None:
    """Podman is used if Docker does not run."""
    put_program(path, "docker", "exit 1")
    put_program(path, "podman", "echo 5.1.0")
    assert container_engine().version == "5.1.0"


@pytest.mark.usefixtures("path")
def test_a_missing_engine_is_reported() -> None:
    """Without an engine the finding says so."""
    assert container_engine().seen == "none on PATH"
