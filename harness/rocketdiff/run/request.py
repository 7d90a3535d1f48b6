"""The request for a run: scenarios, backend, judging. It is made from options and can be printed as a command again."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from rocketdiff.cluster.backend import Backend
from rocketdiff.cluster.processes.backend import Processes
from rocketdiff.cluster.start import backend_named
from rocketdiff.core.answers.policy import Policy, policy_of
from rocketdiff.core.errors import UsageError
from rocketdiff.core.subject import REFERENCE, STANDARD, ClientProtocol, SubjectId
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE, RUN_OPTIONS, TO_REPEAT, RunOption
from rocketdiff.core.tables.suites import EVERY_SUITE, suite_of
from rocketdiff.judging.ledgers import LedgerChoice
from rocketdiff.releases.progress import ProgressListener
from rocketdiff.run.last_failed import last_failed
from rocketdiff.subjects.own.subject_build import build_all
from rocketdiff.subjects.registry import file_of, published, resolved
from rocketdiff.subjects.subject import Subject

_FIRST_SUITE = {ClientProtocol.REMOTING: "quick", ClientProtocol.GRPC: "grpc"}


@dataclass(frozen=True, slots=True)
class Selection:
    """Which scenarios to run: suite (None: all), globs of names, folder (None: the shipped scenarios)."""

    suite: str | None = None
    patterns: tuple[str, ...] = ()
    root: Path | None = None

    @property
    def suite_name(self) -> str:
        return self.suite or EVERY_SUITE


@dataclass(frozen=True, slots=True)
class Judging:
    """How a run is judged: what gates, which divergences are declared, and where Spark runs (``--master``)."""

    policy: Policy = field(default_factory=Policy)
    ledgers: LedgerChoice = field(default_factory=LedgerChoice)
    master: str | None = None


WITHOUT_LEDGERS = Judging(ledgers=LedgerChoice(shipped=False))
"""For a client compared with itself, where every divergence is a false alarm."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """
    What the user requested. ``seed`` None: drawn and printed.

    is_wire_wanted: relays even if not needed.
    is_control_wanted: run each case also with the baseline against itself.
    is_dry: only print what would be done.
    most_failures: no further case is run after so many diverged; None: all are.
    """

    baseline: Subject
    candidate: Subject
    selection: Selection = field(default_factory=Selection)
    backend: Backend = field(default_factory=Processes)
    judging: Judging = field(default_factory=Judging)
    out: Path = Path("reports")
    seed: int | None = None
    is_wire_wanted: bool = False
    is_control_wanted: bool = False
    is_dry: bool = False
    most_failures: int | None = None
    progress: ProgressListener | None = None

    @property
    def subjects(self) -> tuple[Subject, Subject]:
        return self.baseline, self.candidate

    @property
    def attempt_timeout_ms(self) -> int:
        """The longest attempt timeout that a subject states; 0 if both obey the setting."""
        return max(subject.attempt_timeout_ms or 0 for subject in self.subjects)

    @property
    def specs(self) -> tuple[str, str]:
        """Values of ``--subject``."""
        return self.baseline.spec, self.candidate.spec

    @property
    def server_asked(self) -> str | None:
        """Value of ``--server``. None for an existing cluster, which has its own release."""
        return None if self.backend.is_shared else self.backend.server_release


def request_of(given: Mapping[str, Any], backend: Backend | None = None) -> RunRequest:
    """
    Make a request from option values by key. Missing options have their defaults.

    backend: already parsed; None to parse ``cluster`` and ``server``. Raises UsageError for an invalid value.
    """
    asked = {option.key: given.get(option.key, option.default) for option in RUN_OPTIONS.values()}
    patterns, root = tuple(asked["scenario"] or ()), asked["scenarios"]
    if asked["last_failed"]:
        if patterns:
            raise UsageError("either --last-failed or --scenario", seen="both")
        patterns = last_failed(asked["out"])
    ledgers = LedgerChoice(tuple(asked["ledger"] or ()), shipped=not asked["no_ledger"])
    judging = Judging(policy_of(asked["inconclusive"], strict=asked["strict"]), ledgers, asked["master"])
    backend = backend or backend_named(asked["cluster"], asked["server"], asked["security"])
    if asked["build"] and not asked["dry_run"]:
        build_subjects(asked["subject"] or [])
    pair = pair_of(asked["subject"] or [])  # last: it may start programs
    suite = suite_of(asked["suite"], is_chosen=bool(patterns or root), first=_FIRST_SUITE[pair[0].protocol])
    return RunRequest(
        *pair,
        Selection(suite, patterns, root),
        backend,
        replace(judging, ledgers=with_their_own(ledgers, pair)),
        out=asked["out"],
        seed=asked["seed"],
        is_wire_wanted=asked["wire"],
        is_control_wanted=asked["control"],
        is_dry=asked["dry_run"],
        most_failures=asked["max_failures"],
    )


def with_their_own(choice: LedgerChoice, pair: tuple[Subject, Subject]) -> LedgerChoice:
    """The chosen ledgers, and those that the subjects' files name, each once."""
    files = {path.resolve(): path for path in choice.files}
    own = [subject.ledger for subject in pair if subject.ledger is not None]
    return replace(choice, files=(*choice.files, *(path for path in own if path.resolve() not in files)))


def command_line(request: RunRequest, seed: int) -> str:
    """The command that repeats the run, with every option that affects it or its verdict."""
    seeded = replace(request, seed=seed)
    words = (word for name in TO_REPEAT for word in _words(RUN_OPTIONS[name], seeded))
    return shlex.join(["rocketdiff", "run", *words])


def _words(option: RunOption, request: RunRequest) -> Iterator[str]:
    value = attrgetter(option.field)(request)
    if value is None or (value == option.default and not option.is_always_printed):
        return
    if option.type is bool:
        yield f"--{option.name}"
        return
    for item in value if option.is_many else (value,):
        yield from (f"--{option.name}", str(item))


def pair_of(subjects: list[str]) -> tuple[Subject, Subject]:
    """
    Both subjects. A single one gets the reference of its release; without any, java:5.3.3 and its reference.

    Starts programs of the user to read their hello.
    """
    if not subjects:
        subjects = [DEFAULT_RELEASE]
    if len(subjects) > 2:
        raise UsageError("two subjects", seen=f"{len(subjects)}", hint="--subject java:5.3.3 --subject python:5.3.3")
    first, *second = map(resolved, subjects)
    return first, second[0] if second else _reference_for(first)


def build_subjects(subjects: list[str]) -> None:
    """Run the build commands of the subject files among them. UsageError if there is none, EnvironmentMissing if one fails."""
    build_all([file for text in subjects if (file := file_of(text)) is not None])


def _reference_for(subject: Subject) -> Subject:
    """Only a Java release has a reference."""
    if subject.rules is None:
        raise UsageError(
            "two subjects: only a Java client can be named alone, beside the reference of its release",
            seen=f"{subject} alone",
            hint=f"--subject {SubjectId(STANDARD, DEFAULT_RELEASE)} --subject {subject}",
        )
    return published(SubjectId(REFERENCE, subject.rules))
