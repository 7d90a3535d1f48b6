"""
Cases of a run whose ends and beginnings overlap.

While one is at rest, read back and sealed, the next one warms up, and the programs of the one after it are started; they are suspended
until it is their turn. A new cluster starts beside programs, too.
"""

import threading
import time
from collections.abc import Sequence

from rocketdiff.core.closing import Closing
from rocketdiff.run.case.staged_case import StagedCase
from rocketdiff.run.case_session import CaseSession
from rocketdiff.scenario import Case


def play_overlapping(session: CaseSession, cases: Sequence[Case]) -> None:
    """
    Run the cases in order; only the end of each runs beside starts and, if the next one uses the same cluster, its beginning.

    No client works while another case starts, begins or ends. Raises the errors of ``CaseSession.play``.
    """
    with Ending() as last, Ahead(session, cases) as ahead:
        ahead.start(1)
        for number, case in enumerate(cases, start=1):
            staged = ahead.take()
            try:
                ahead.start(number + 1)
                if case.scenario.topology != cases[max(0, number - 2)].scenario.topology:
                    last.join()
                staged.begin()
                last.join()
                ahead.suspend()
            except BaseException:
                staged.withdraw()
                raise
            staged.began = max(staged.began, last.at)
            staged.events.release()
            staged.work()
            last.begin(staged)
        last.join()


class Ahead(Closing):
    """The next case, its programs started. Those that are left at the end of the block are ended."""

    def __init__(self, session: CaseSession, cases: Sequence[Case]) -> None:
        self._session, self._cases = session, cases
        self._next: StagedCase | None = None

    def take(self) -> StagedCase:
        """Return the case that was started last; its programs go on."""
        staged, self._next = self._next, None
        assert staged is not None, "each case is started before it is taken"
        staged.go_on()
        return staged

    def start(self, number: int) -> None:
        """Start the programs of the case of this number."""
        if number <= len(self._cases):
            self._next = self._session.stage(number, self._cases[number - 1])
            self._next.events.hold()
            self._next.start()

    def suspend(self) -> None:
        """Await their first lines, and stop them until ``take``."""
        if self._next is not None:
            self._next.suspend()

    def close(self) -> None:
        if self._next is not None:
            self._next.withdraw()


class Ending(Closing):
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

    def close(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def _end(self, staged: StagedCase) -> None:
        try:
            staged.end()
        except BaseException as error:  # noqa: BLE001 - join raises it
            self._error = error
        self.at = time.monotonic()
