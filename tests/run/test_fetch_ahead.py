"""What the set-up fetches ahead of the first run."""

import subprocess
import sys

import pytest

from rocketdiff.core.errors import EnvironmentMissing, ExitCode
from rocketdiff.run import fetch_ahead

WITHOUT_PYSPARK = (
    "import sys; sys.modules['pyspark'] = None; from rocketdiff.run.fetch_ahead import main; sys.exit(main())"
)


def test_it_needs_no_pyspark() -> None:
    """It runs beside the installation of pyspark."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_PYSPARK], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_failure_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A failure is one sentence and the run's exit code; the run will meet it again."""

    def fail(_: object) -> None:
        raise EnvironmentMissing("to fetch a jar", seen="no network")

    monkeypatch.setattr(fetch_ahead, "fetch", fail)
    assert fetch_ahead.main() == ExitCode.ENVIRONMENT
    assert "no network" in capsys.readouterr().err
