"""Carries out the membership script: each event is ordered in both arms for the same instant."""

import threading
import time
from collections.abc import Sequence

from rocketdiff.core.consuming.plan import GroupPlan, MemberChange
from rocketdiff.core.units import NS_PER_S
from rocketdiff.run.case.consuming.group_run import GroupRun

AHEAD_NS = 50_000_000
"""An order is written this long before its time, so that the members of both arms have read it."""


class MembershipThread:
    """Orders the events of a plan at their times from ``origin_ns``; starts at once."""

    def __init__(self, plan: GroupPlan, groups: Sequence[GroupRun], origin_ns: int) -> None:
        self._plan, self._groups, self._origin_ns = plan, groups, origin_ns
        self._error: BaseException | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="membership", daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait for the last event, which comes before the end of the feed; raise what went wrong."""
        self._thread.join()
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Order nothing more."""
        self._stopped.set()

    def _run(self) -> None:
        try:
            for event in self._plan.membership:
                at_ns = self._origin_ns + round(event.at_s * NS_PER_S)
                if self._stopped.wait(max(0.0, (at_ns - AHEAD_NS - time.monotonic_ns()) / NS_PER_S)):
                    return
                for group in self._groups:
                    if event.change is MemberChange.JOIN:
                        group.join(event.member, at_ns)
                    else:
                        group.leave(event.member, at_ns, is_last=self._plan.is_last_of(event))
        except BaseException as error:  # noqa: BLE001 - raised by join
            self._error = error
