"""
Cases of a run whose ends and beginnings overlap.

While one is at rest, read back and sealed, the next one warms up, and the programs of the one after it are started; they are suspended
until it is their turn. A new cluster starts beside programs, too. Brokers may keep messages back for seconds: those of one case are
read between later ones, as long as these are brief and have neither faults nor groups.
"""

import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from rocketdiff.core.closing import Closing
from rocketdiff.core.errors import HarnessError
from rocketdiff.run.case.staged_case import StagedCase
from rocketdiff.run.case_session import CaseSession
from rocketdiff.scenario import Case

BRIEF_S = 5.0
"""Length of a case for which messages that fall due meanwhile may wait."""


def play_overlapping(session: CaseSession, cases: Sequence[Case]) -> None:
    """
    Run the cases in order; the end of each runs beside starts alone and, if the next one uses the same cluster, its beginning.

    No client works while another case starts, begins or ends. Raises the errors of ``CaseSession.play``.
    """
    with Ending() as last, Ahead(session, cases) as ahead:
        try:
            ahead.start(1)
            for number, case in enumerate(cases, start=1):
                _play(number, case, cases, ahead, last)
            last.join()
        except HarnessError:
            with suppress(HarnessError):
                last.join()  # queues of earlier cases can often be read all the same
            raise


def _play(number: int, case: Case, cases: Sequence[Case], ahead: "Ahead", last: "Ending") -> None:
    staged = ahead.take()
    try:
        ahead.start(number + 1)
        if case.scenario.topology != cases[max(0, number - 2)].scenario.topology:
            last.join()
        staged.begin()
        last.join(leaves_open=_may_be_first(case))
        ahead.suspend()
    except BaseException:
        staged.withdraw()
        raise
    staged.began = max(staged.began, last.at)
    staged.events.release()
    staged.work()
    last.begin(staged)


def _may_be_first(case: Case) -> bool:
    """True if messages that are not due may be read after this case: a fault would delay them, and a group joins for seconds."""
    scenario = case.scenario
    return not case.faults and scenario.group is None and scenario.duration_s <= BRIEF_S


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

    It keeps cases whose messages are not due yet. Those that an interrupt leaves are sealed with the run, as aborted.

    at: monotonic time of the last end.
    """

    def __init__(self) -> None:
        self.at = 0.0
        self._held: list[StagedCase] = []
        self._open: list[StagedCase] = []
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def begin(self, staged: StagedCase) -> None:
        staged.events.hold()  # listeners are called on the runner's thread
        self._held.append(staged)
        self._thread = threading.Thread(target=self._end, args=(staged,), name="case-end")
        self._thread.start()

    def join(self, *, leaves_open: bool = False) -> None:
        """Wait for it, pass its events on and raise its error. leaves_open: what is kept is not read now."""
        self.close()
        error, self._thread, self._error = self._error, None, None
        try:
            if error is not None:
                raise error
            if not leaves_open:
                self._read_back(self._open)
        finally:
            for staged in [each for each in self._held if each not in self._open]:
                self._held.remove(staged)
                staged.events.release()

    def close(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def _end(self, staged: StagedCase) -> None:
        try:
            staged.end()
            self._open.append(staged)
            self._read_back([each for each in self._open if each.is_due])
        except BaseException as error:  # noqa: BLE001 - join raises it
            self._error = error
        self.at = time.monotonic()

    def _read_back(self, cases: Sequence[StagedCase]) -> None:
        """Raise the first error, when all have been read."""
        errors = []
        for each in tuple(cases):
            self._open.remove(each)
            try:
                each.read_back()
            except HarnessError as error:
                errors.append(error)
            self.at = time.monotonic()
        if errors:
            raise errors[0]
