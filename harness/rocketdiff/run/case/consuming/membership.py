"""Carries out the membership script: each event is ordered in both arms for the same instant."""

import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

from rocketdiff.core.consuming.plan import ApplicationEvent, GroupPlan, MemberChange, MemberEvent
from rocketdiff.core.consuming.watched import RESUME
from rocketdiff.core.units import NS_PER_S
from rocketdiff.run.case.consuming.group_run import GroupRun
from rocketdiff.run.case.consuming.interruption import SIGNALS, Interruption
from rocketdiff.run.case.consuming.names import CaseNames

AHEAD_NS = 50_000_000
"""An order is written this long before its time, so that the members of both arms have read it."""

AIMED_NS = 1_000_000_000
"""
A signal is aimed this long before its time.

To list processes and sockets of two JVMs took 0.4 s at a load of 17 on two cores, and 1 s with relays in this process.
"""

_LOOK_S = 0.01
"""Between two looks for the effect of a signal."""


class _Step(NamedTuple):
    """An event, or the end of a pause. what: a change, or RESUME; empty of a call of an application."""

    at_s: float
    what: str
    event: MemberEvent | ApplicationEvent


class _Sent(NamedTuple):
    group: GroupRun
    member: int
    what: str
    at_ns: int
    interruption: Interruption


class MembershipThread:
    """Orders the events of a plan at their times from ``origin_ns``; starts at once."""

    def __init__(self, plan: GroupPlan, names: CaseNames, groups: Sequence[GroupRun], origin_ns: int) -> None:
        self._plan, self._names, self._groups, self._origin_ns = plan, names, groups, origin_ns
        self._undecided: list[_Sent] = []
        self._error: BaseException | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="membership", daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait for the last event, which comes before the end of the feed, and its proof; raise what went wrong."""
        self._thread.join()
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Order nothing more."""
        self._stopped.set()

    def _run(self) -> None:
        try:
            for step in _steps(self._plan):
                at_ns = self._origin_ns + round(step.at_s * NS_PER_S)
                is_signal = step.what in SIGNALS
                if not self._wait_until(at_ns - (AIMED_NS if is_signal else AHEAD_NS)):
                    return
                if is_signal:
                    self._interrupt(step, at_ns)
                else:
                    self._order(step.event, at_ns)
            while self._undecided and not self._stopped.wait(_LOOK_S):
                self._look()
        except BaseException as error:  # noqa: BLE001 - raised by join
            self._error = error

    def _wait_until(self, at_ns: int) -> bool:
        """Return True at this time, and False if the script was stopped before; meanwhile look for effects."""
        while (left_s := (at_ns - time.monotonic_ns()) / NS_PER_S) > 0 and not self._stopped.is_set():
            self._stopped.wait(min(left_s, _LOOK_S) if self._undecided else left_s)
            self._look()
        return not self._stopped.is_set()

    def _order(self, event: MemberEvent | ApplicationEvent, at_ns: int) -> None:
        for group in self._groups:
            if isinstance(event, ApplicationEvent):
                group.apply(event.member, at_ns, event.call, self._names.named(event.queue), event.offset)
            elif event.change is MemberChange.JOIN:
                group.join(event.member, at_ns)
            else:
                group.leave(event.member, at_ns, is_last=self._plan.is_last_of(event))

    def _interrupt(self, step: _Step, at_ns: int) -> None:
        member = step.event.member
        aimed = [
            _Sent(group, member, step.what, at_ns, made)
            for group in self._groups
            if (made := group.aim(member, step.what))
        ]
        if not self._wait_until(at_ns):
            return
        if step.what == MemberChange.PAUSE:
            for each in aimed:
                each.group.hold(member)
        for each in aimed:  # nothing between the arms that may wait: a note took 0.1 s on a busy machine
            each.interruption.send()
        if step.what == RESUME:
            for each in aimed:
                each.group.release(member)
        self._undecided += aimed

    def _look(self) -> None:
        for each in list(self._undecided):
            if each.interruption.is_decided():
                self._undecided.remove(each)
                each.group.note(each.member, each.what, each.at_ns, each.interruption)


def _steps(plan: GroupPlan) -> list[_Step]:
    """Return the events and the ends of pauses by time."""
    steps = [_Step(event.at_s, event.change.value, event) for event in plan.membership]
    steps += [_Step(event.end_s, RESUME, event) for event in plan.membership if event.change is MemberChange.PAUSE]
    steps += [_Step(event.at_s, "", event) for event in plan.application]
    return sorted(steps, key=lambda step: step.at_s)
