"""Exit codes of `rocketdiff run --bisect` for `git bisect run`."""

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
    """Restores the signal handlers that the entry point replaces."""
    handlers = {number: signal.getsignal(number) for number in NUMBERS}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


def ended(*arguments: str) -> int:
    """The exit code of a command line."""
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
    """With --bisect undecided verdicts are 125, by which git skips a revision; others keep their code."""
    monkeypatch.setattr(execute, "execute", lambda *_: int(code))
    assert ended(*PAIR, "--bisect") == meant
    assert ended(*PAIR) == code


@pytest.mark.parametrize(
    ("error", "meant"),
    [
        (EnvironmentMissing("a jar", seen="none"), 125),
        (HarnessError("sense", seen="no"), 128),
        (ZeroDivisionError(), 128),
    ],
)
def test_a_missing_tool_skips_and_a_fault_of_ours_ends_the_bisection(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception, meant: int
) -> None:
    """A client that cannot be built or fetched skips the revision; an internal error is 128, at which git aborts."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where the traceback goes

    def failing(*_: object) -> int:
        raise error

    monkeypatch.setattr(execute, "execute", failing)
    assert ended(*PAIR, "--bisect") == meant


def test_a_command_that_is_refused_ends_the_bisection() -> None:
    """A refused command line is 128: every revision would refuse it."""
    assert ended("run", "--bisect", "--subject", "java") == 128
    assert ended("run", "--bisect", "--no-such-option") == 128
