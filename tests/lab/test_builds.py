"""A patched Java client is found without a cluster if it behaves differently."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rocketdiff.cli.app import guarded
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.resources import resource
from tests.releases.patched import (
    PRODUCER_IMPL,
    client_jar,
    early_committing_jar,
    patched_jar,
    rarely_rebalancing_jar,
    slowly_retrying_jar,
    with_entry,
)


@pytest.fixture(autouse=True)
def _cache(own_cache_folder: Path) -> None:
    """A cache of the test's own for builds."""


def test_a_changed_constant_is_found_by_the_script_that_shows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A longest avoidance of 3 s instead of 30 s is found by avoidance-steps."""
    patched = f"{patched_jar(tmp_path / 'patched.jar')}@5.3.3"
    assert guarded(["changelog", "5.3.3", patched, "--role", "producer", "--exit-code"]) == ExitCode.DIVERGES
    reported = capsys.readouterr().out
    assert "avoidance-steps" in reported
    (headline,) = [line for line in reported.splitlines() if "available_at_ms" in line]
    assert "how long its broker is avoided" in headline
    assert " 30000 → 3000" in headline


def test_a_changed_consumer_is_found_by_the_script_that_shows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A message that no broker takes back, and that is consumed again after 9 s instead of 5 s, is found."""
    patched = f"{slowly_retrying_jar(tmp_path / 'patched.jar')}@5.3.3"
    assert guarded(["changelog", "5.3.3", patched, "--role", "consumer", "--exit-code"]) == ExitCode.DIVERGES
    named = [line for line in capsys.readouterr().out.splitlines() if " (consumer; " in line]
    assert named == ["  consumer-failing-broker (consumer; K15 K27)"]
    assert guarded(["identify", patched, "--role", "consumer"]) == ExitCode.DIVERGES
    _, nearest, otherwise, *_ = capsys.readouterr().out.splitlines()
    assert nearest.startswith("nearest: 5.3.3, in ")
    assert otherwise.startswith("  consumer-failing-broker: A message that fails while its broker is paused")
    assert otherwise.endswith(": message a/0 0 is delivered 4,000 ms later")


@pytest.mark.parametrize(
    ("patch", "script", "outcome"),
    [
        (rarely_rebalancing_jar, "consumer-delivers (consumer; F1 F8 K21 K27)", "is delivered 4,000 ms later"),
        (early_committing_jar, "consumer-kept-message (consumer; F8)", "is committed 5,000 ms sooner"),
    ],
    ids=["rebalance", "offsets"],
)
def test_patches_of_rounds_and_offsets_are_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], patch: Callable[[Path], Path], script: str, outcome: str
) -> None:
    """Rounds 5 s apart instead of 1 s make messages late; an offset above a message that is not finished is committed early."""
    patched = f"{patch(tmp_path / 'patched.jar')}@5.3.3"
    assert guarded(["changelog", "5.3.3", patched, "--role", "consumer", "--exit-code"]) == ExitCode.DIVERGES
    reported = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert reported[reported.index(script) + 1].endswith(outcome)


def test_a_rebuild_that_changes_nothing_is_quiet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A rebuild with other bytes and the same behaviour conforms."""
    rebuilt = with_entry(client_jar("5.3.3"), tmp_path / "rebuilt.jar", "note.txt")
    assert guarded(["changelog", "5.3.3", str(rebuilt), "--exit-code"]) == ExitCode.CONFORMS
    assert "no change that scripts can show" in capsys.readouterr().out


@pytest.mark.parametrize("content", [None, b"no class"], ids=["missing", "not a class"])
def test_a_jar_whose_classes_do_not_fit_together_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None
) -> None:
    """A jar whose classes do not fit together is a usage error, exit 4."""
    cut = with_entry(client_jar("5.3.3"), tmp_path / "cut.jar", PRODUCER_IMPL, content)
    assert guarded(["changelog", "5.3.3", str(cut), "--exit-code"]) == ExitCode.USAGE
    (reported,) = capsys.readouterr().err.splitlines()[-1:]
    assert reported.startswith("rocketdiff: expected a build whose classes can be run (script ")


def test_of_two_builds_the_one_that_departs_from_the_rules_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two builds, the one that departs from the rules is named once."""
    patched_jar(tmp_path / "patched.jar")
    (tmp_path / "subject.yaml").write_text('format: 1\njava: {jar: patched.jar, base: "5.3.3"}\n')
    script = resource("fixtures/simulation/scripts") / "avoidance-steps.json"
    subjects = ["--subject", "java:5.3.3", "--subject", str(tmp_path / "subject.yaml")]
    assert guarded(["simulate", *subjects, "--script", str(script)]) == ExitCode.DIVERGES
    rules = [line for line in capsys.readouterr().out.splitlines() if line.strip().startswith("rule")]
    assert len(rules) == 1
    assert rules[0].endswith("departs from the rules of 5.3.3, by which 5.3.3 answers")
