"""A timeline: sender threads and environment actions that run concurrently in virtual time."""

from rocketdiff.simulation.script.model import Entry, Select, Send, Timeline
from rocketdiff.simulation.virtual.environment import act
from rocketdiff.simulation.virtual.lines import head, of_entry
from rocketdiff.simulation.virtual.session import ScriptSession
from rocketmq_reference.client.effects import Body, Signal, Wait

_Numbered = tuple[int, Entry]


class _Open:
    def __init__(self, session: ScriptSession, count: int) -> None:
        self._session = session
        self._count = count
        self.none_left = Signal()

    def ended(self) -> None:
        self._count -= 1
        if not self._count:
            self._session.kernel.give(self.none_left)


def run_timeline(session: ScriptSession, number: int, timeline: Timeline) -> Body:
    """
    Do all entries at their times; a busy thread does its next entry as soon as it is free.

    At equal times the environment comes before the threads, and threads are ordered by number. The step does not wait for
    environment actions that take time (a poll, a heartbeat).
    """
    kernel = session.kernel
    began_ms = kernel.now_ms
    where = head(session.name, number)
    threads: dict[int, list[_Numbered]] = {}
    environment: list[_Numbered] = []
    for at, entry in enumerate(timeline.entries):
        if isinstance(entry.action, Send | Select):
            threads.setdefault(entry.action.thread, []).append((at, entry))
        else:
            environment.append((at, entry))
    left = _Open(session, len(threads) + len(environment))
    for numbered in environment:
        _schedule(session, where, numbered, began_ms, left)
    # Order at this instant: the environment, thread 0, then the other threads by number.
    own = threads.pop(0, None)
    kernel.at(began_ms, lambda: _hand_to_others(session, where, threads, began_ms, left))
    yield from kernel.turn()
    if own is not None:
        yield from _perform(session, where, own, began_ms, left)
    yield Wait(left.none_left)


def _schedule(session: ScriptSession, where: str, numbered: _Numbered, began_ms: int, left: _Open) -> None:
    at, entry = numbered

    def happen() -> None:
        actor = act(session, of_entry(where, at), entry.action)
        if actor is not None:
            session.kernel.start(actor)
        left.ended()

    session.kernel.at(began_ms + entry.at_ms, happen)


def _hand_to_others(
    session: ScriptSession, where: str, threads: dict[int, list[_Numbered]], began_ms: int, left: _Open
) -> None:
    for thread in sorted(threads):
        entries = threads[thread]
        session.sender_thread(thread).submit(
            lambda _own, entries=entries: _perform(session, where, entries, began_ms, left)  # type: ignore[misc]
        )


def _perform(session: ScriptSession, where: str, entries: list[_Numbered], began_ms: int, left: _Open) -> Body:
    for at, entry in entries:
        yield Wait(until_ms=began_ms + entry.at_ms)
        assert isinstance(entry.action, Send | Select)
        yield from session.do(of_entry(where, at), entry.action)
    left.ended()
