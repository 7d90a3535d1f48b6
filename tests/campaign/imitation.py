"""Replaces runs on brokers by folders, reports and events; kills a process at a given moment."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from rocketdiff.campaign import measure
from rocketdiff.cluster.processes.backend import Processes
from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.errors import HarnessError
from rocketdiff.core.events import Listener, RunEnded, RunStarted
from rocketdiff.report.document import write as write_report
from rocketdiff.run.request import RunRequest
from tests.matrix.stories import CALM, answer, document


def nothing() -> None:
    """Do nothing."""


def an_empty_run(folder: Path) -> None:
    """Write a run that no record accepts."""
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}")


@dataclass
class Imitation:
    """
    Replaces ``execute``: fills a run directory in three steps and emits events.

    made: subjects and seeds of finished runs. fails: what is raised for a subject, and whether after its run began. moment:
    called between steps; is_seldom: only before and after the run. fill: writes the run directory.
    """

    made: list[tuple[str, int | None]] = field(default_factory=list)
    judged: list[Path] = field(default_factory=list)
    fails: dict[str, tuple[HarnessError, bool]] = field(default_factory=dict)
    moment: Callable[[], None] = nothing
    is_seldom: bool = False
    fill: Callable[[Path], object] = an_empty_run

    def execute(self, request: RunRequest, listeners: Sequence[Listener] = ()) -> int:
        subject = str(request.candidate)
        error, is_begun = self.fails.get(subject, (None, False))
        if error is not None and not is_begun:
            raise error
        folder = request.out / f"20261123-{len(self.made):06d}"
        self.moment()
        self.fill(folder)
        started = RunStarted(folder.name, 1, "all", request.baseline.id, request.candidate.id, (CALM,), 1, folder)
        self._step()
        for listener in listeners:
            listener.on_event(started)
        if error is not None:
            raise error
        self._step()
        lost = answer(CALM, "loss", Verdict.DIVERGES, "loss.stray-message", subject=subject)
        write_report(document(lost, answer(CALM, "queue-choice", subject=subject), subject=subject), folder)
        self.moment()
        for listener in listeners:
            listener.on_event(RunEnded(folder.name, 1, "VERDICT diverges", 1.0))
        self.made.append((subject, request.seed))
        return 1

    @contextmanager
    def in_place(self) -> Iterator[None]:
        with (
            mock.patch.object(measure, "execute", self.execute),
            mock.patch.object(measure, "judge_runs", self.judge),
            mock.patch.object(Processes, "fetch", lambda backend, _progress: backend),
        ):
            yield

    def _step(self) -> None:
        if not self.is_seldom:
            self.moment()

    def judge(self, paths: Sequence[Path], **_: object) -> None:
        self.judged.extend(paths)


class Killed:
    """Ends this process by SIGKILL at a given moment."""

    def __init__(self, moment: int) -> None:
        self._left = moment

    def __call__(self) -> None:
        self._left -= 1
        if self._left < 0:
            os.kill(os.getpid(), signal.SIGKILL)


def in_a_child(work: Callable[[], object]) -> bool:
    """True if ``work`` ended in a forked process without being killed."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFEXITED(status)
