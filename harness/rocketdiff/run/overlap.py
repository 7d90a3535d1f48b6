"""Cases of a run whose ends and beginnings overlap: while one is at rest, read back and sealed, the next one starts its programs."""

import threading
import time
from collections.abc import Sequence
from typing import Self

from rocketdiff.run.case.staged_case import StagedCase
from rocketdiff.run.case_session import CaseSession
from rocketdiff.scenario import Case


def play_overlapping(session: CaseSession, cases: Sequence[Case]) -> None:
    """
    Run the cases in order; only the end of each runs beside the beginning of the next, where both use one cluster.

    No client works while another case begins or ends. Raises the errors of ``CaseSession.play``.
    """
    with Ending() as last:
        for number, case in enumerate(cases, start=1):
            if number > 1 and case.scenario.topology != cases[number - 2].scenario.topology:
                last.join()
            staged = session.stage(number, case)
            staged.events.hold()
            staged.begin()
            try:
                last.join()
            except BaseException:
                staged.withdraw()
                raise
            staged.began = max(staged.began, last.at)
            staged.events.release()
            staged.work()
            last.begin(staged)
        last.join()


class Ending:
    """
    The end of the case that worked last, on a thread of its own. The block is not left before the thread has ended.

    at: monotonic time of the last end.
    """

    def __init__(self) -> None:
        self.at = 0.0
        self._staged: StagedCase | None = None
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def begin(self, staged: StagedCase) -> None:
        staged.events.hold()  # listeners are called on the runner's thread
        self._staged = staged
        self._thread = threading.Thread(target=self._end, args=(staged,), name="case-end")
        self._thread.start()

    def join(self) -> None:
        """Wait for it, pass its events on and raise its error."""
        if self._thread is None or self._staged is None:
            return
        self._thread.join()
        self._thread = None
        self._staged.events.release()
        if self._error is not None:
            raise self._error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._thread is not None:
            self._thread.join()

    def _end(self, staged: StagedCase) -> None:
        try:
            staged.end()
        except BaseException as error:  # noqa: BLE001 - join raises it
            self._error = error
        self.at = time.monotonic()
