"""A timeline: threads of the application and environment actions that run concurrently in virtual time."""

from rocketdiff.simulation.script.model import Entry, Timeline
from rocketdiff.simulation.virtual.environment import act
from rocketdiff.simulation.virtual.kernel import Kernel
from rocketdiff.simulation.virtual.lines import head, of_entry
from rocketdiff.simulation.virtual.session import RoleSession
from rocketmq_reference.client.effects import Body, Signal, Wait

_Numbered = tuple[int, Entry]


class _Open:
    def __init__(self, kernel: Kernel, count: int) -> None:
        self._kernel = kernel
        self._count = count
        self.none_left = Signal()

    def ended(self) -> None:
        self._count -= 1
        if not self._count:
            self._kernel.give(self.none_left)


def run_timeline(role: RoleSession, number: int, timeline: Timeline) -> Body:
    """
    Do all entries at their times; a busy thread does its next entry as soon as it is free.

    At equal times the environment comes before the threads, and threads are ordered by number. The step does not wait for
    environment actions that take time (a poll, a heartbeat).
    """
    kernel = role.session.kernel
    began_ms = kernel.now_ms
    where = head(role.session.name, number)
    threads: dict[int, list[_Numbered]] = {}
    environment: list[_Numbered] = []
    for at, entry in enumerate(timeline.entries):
        thread = role.thread_of(entry.action)
        if thread is None:
            environment.append((at, entry))
        else:
            threads.setdefault(thread, []).append((at, entry))
    left = _Open(kernel, len(threads) + len(environment))
    for numbered in environment:
        _schedule(role, where, numbered, began_ms, left)
    # Order at this instant: the environment, thread 0, then the other threads by number.
    own = threads.pop(0, None)
    kernel.at(began_ms, lambda: _hand_to_others(role, where, threads, began_ms, left))
    yield from kernel.turn()
    if own is not None:
        yield from _perform(role, where, own, began_ms, left)
    yield Wait(left.none_left)


def _schedule(role: RoleSession, where: str, numbered: _Numbered, began_ms: int, left: _Open) -> None:
    at, entry = numbered

    def happen() -> None:
        actor = act(role, of_entry(where, at), entry.action)
        if actor is not None:
            role.session.kernel.start(actor)
        left.ended()

    role.session.kernel.at(began_ms + entry.at_ms, happen)


def _hand_to_others(
    role: RoleSession, where: str, threads: dict[int, list[_Numbered]], began_ms: int, left: _Open
) -> None:
    for thread in sorted(threads):
        entries = threads[thread]
        role.worker(thread).submit(
            lambda _own, entries=entries: _perform(role, where, entries, began_ms, left)  # type: ignore[misc]
        )


def _perform(role: RoleSession, where: str, entries: list[_Numbered], began_ms: int, left: _Open) -> Body:
    for at, entry in entries:
        yield Wait(until_ms=began_ms + entry.at_ms)
        yield from role.perform(of_entry(where, at), entry.action)
    left.ended()
