"""`rocketdiff run --bisect` speaks to `git bisect run`: good, bad, cannot be told, give up."""

import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketdiff.cli.app import main
from rocketdiff.cli.endings import NUMBERS
from rocketdiff.core.errors import EnvironmentMissing, ExitCode, HarnessError
from rocketdiff.run import execute

PAIR = ("run", "--subject", "java:5.3.3", "--subject", "python:5.3.3")


@pytest.fixture(autouse=True)
def _own_signals() -> Iterator[None]:
    """The entry point takes them; this process needs them back."""
    handlers = {number: signal.getsignal(number) for number in NUMBERS}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


def ended(*arguments: str) -> int:
    """The code with which the command line ends."""
    with pytest.raises(SystemExit) as exit_:
        main([*arguments])
    assert isinstance(exit_.value.code, int)
    return exit_.value.code


@pytest.mark.parametrize(
    ("code", "meant"),
    [
        (ExitCode.CONFORMS, 0),
        (ExitCode.DIVERGES, 1),
        (ExitCode.STALE_LEDGER, 3),
        (ExitCode.INCONCLUSIVE, 125),
        (ExitCode.NOTHING_DECISIVE, 125),
    ],
)
def test_a_verdict_is_good_bad_or_skipped(monkeypatch: pytest.MonkeyPatch, code: ExitCode, meant: int) -> None:
    """125 is the code by which git passes over a revision; without the option the code is ours."""
    monkeypatch.setattr(execute, "execute", lambda *_: int(code))
    assert ended(*PAIR, "--bisect") == meant
    assert ended(*PAIR) == code


def test_what_is_missing_on_the_machine_skips_the_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that could not be built or fetched is neither good nor bad."""

    def absent(*_: object) -> int:
        raise EnvironmentMissing("a jar", seen="none")

    monkeypatch.setattr(execute, "execute", absent)
    assert ended(*PAIR, "--bisect") == 125


@pytest.mark.parametrize("error", [HarnessError("sense", seen="nonsense"), ZeroDivisionError()])
def test_a_fault_of_ours_ends_the_bisection(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception) -> None:
    """Git takes 1 to 127 for a bad revision, and from 128 on gives up; no revision is to blame for us."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where the traceback goes

    def failing(*_: object) -> int:
        raise error

    monkeypatch.setattr(execute, "execute", failing)
    assert ended(*PAIR, "--bisect") == 128


def test_a_command_that_is_refused_ends_the_bisection() -> None:
    """It would be refused at every revision."""
    assert ended("run", "--bisect", "--subject", "java") == 128
    assert ended("run", "--bisect", "--no-such-option") == 128
