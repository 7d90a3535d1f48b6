"""
Attempts of a client that reports only when each of them begins: its beginnings, with the ends that the wire saw.

Theory of operation. A hook that selects the queue is called once per attempt; nothing tells it how the attempt ended. The wire shows
the ends, but nothing of an attempt whose request never reached the relay. Together they show all:

    the client began, and the wire saw                      the attempt ends
    ------------------------------------------------------  --------------------------------------------------------------
    a request for the same queue, before the next beginning as the wire says, at the next beginning at the latest
    none; the broker refused connections then               at the next beginning or the end of the call: refused
    none; a connection to the broker was lost then          likewise: connection lost
    none; the time of the call was up                       likewise: no time left
    none, and none of these                                 likewise; the two witnesses disagree
    a request that the client did not begin                 the two witnesses disagree; of a call that never returned: as the wire says
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rocketdiff.core.sends.records import Attempt, Send
from rocketdiff.relay.remoting.cross_check import LOSS_NOTICED_NS, NO_TIME_NS, Losses
from rocketdiff.relay.remoting.exchanges import END_OF_TIME_NS

_SILENT, _REFUSED, _LOST = "RemotingTimeoutException", "RemotingConnectException", "RemotingSendRequestException"
_NO_TIME = "RemotingTooMuchRequestException"


@dataclass(frozen=True, slots=True)
class Begun:
    """attempts: every one with an end, by send. against: one sentence per send on which client and wire disagree."""

    attempts: tuple[Attempt, ...]
    against: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Wire:
    """What is known of connections: when brokers refused them, when they were lost; and the time of an attempt."""

    refusals: Losses
    losses: Losses
    timeout_ns: int

    def why_unseen(self, attempt: Attempt, returned: Send | None) -> str | None:
        """The error of an attempt that left nothing on the wire; None if nothing explains that."""
        if any(spot.meets(attempt, LOSS_NOTICED_NS) for spot in self.refusals.get(attempt.broker, ())):
            return _REFUSED
        if any(spot.meets(attempt, LOSS_NOTICED_NS) for spot in self.losses.get(attempt.broker, ())):
            return _LOST
        was_up = returned is not None and attempt.start_ns >= returned.start_ns + self.timeout_ns - NO_TIME_NS
        return _NO_TIME if was_up else None


def with_ends(
    begun: Iterable[Attempt],
    seen: Iterable[Attempt],
    sends: Mapping[int, Send],
    refusals: Losses,
    losses: Losses,
    timeout_ns: int,
) -> Begun:
    """
    Every attempt that the client began, with its end.

    begun: as the client reported them, in order. seen: of ``attempts_of``. sends: those that returned. refusals: by broker, when it
    refused connections. losses: of ``losses_of``.
    """
    wire = _Wire(refusals, losses, timeout_ns)
    told, requests = _by_send(begun), _by_send(seen)
    attempts: list[Attempt] = []
    against: list[str] = []
    for send in sorted(told.keys() | requests.keys()):
        made, problem = _of_send(told[send], requests[send], sends.get(send), wire)
        attempts += made
        against += [f"send {send}: {problem}"] if problem else []
    return Begun(tuple(attempts), tuple(against))


def _by_send(attempts: Iterable[Attempt]) -> defaultdict[int, list[Attempt]]:
    by_send: defaultdict[int, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        by_send[attempt.send].append(attempt)
    return by_send


def _of_send(
    begun: Sequence[Attempt], seen: Sequence[Attempt], returned: Send | None, wire: _Wire
) -> tuple[list[Attempt], str]:
    """The attempts of a send, and what is wrong with them; empty if nothing is."""
    left, attempts, problem = list(seen), [], ""
    for start, following in pairwise([*begun, None]):
        assert start is not None
        limit_ns = following.start_ns if following else max(returned.end_ns, start.start_ns) if returned else None
        if left and _is_request_of(start, left[0], limit_ns):
            attempts.append(_ended(start, left.pop(0), limit_ns, goes_on=following is not None))
            continue
        unseen = replace(start, end_ns=start.start_ns if limit_ns is None else limit_ns)
        error = wire.why_unseen(unseen, returned)
        if error is None and returned is not None and not problem:
            problem = f"it began one at {_place(start)}, of which the wire saw no request"
        # A one-way call that returned was not told that its request was lost.
        is_untold = start.oneway and returned is not None and returned.error is None
        attempts.append(replace(unseen, error=None if is_untold else error or _LOST))
    if returned is None:  # The client died, and the last that it did came to the relay and not to its stdout.
        attempts += [replace(one, attempt=number) for number, one in enumerate(left, start=len(attempts))]
    elif left and not problem:
        problem = f"the wire saw a request for {_place(left[0])}, which it did not begin"
    return attempts, problem


def _is_request_of(start: Attempt, seen: Attempt, limit_ns: int | None) -> bool:
    """Whether a request is that of a beginning; the relay may read the last one of a call a little after the call has returned."""
    latest_ns = END_OF_TIME_NS if limit_ns is None else limit_ns + LOSS_NOTICED_NS
    return (start.broker, start.queue_id) == (seen.broker, seen.queue_id) and (
        start.start_ns <= seen.start_ns <= latest_ns
    )


def _ended(start: Attempt, seen: Attempt, limit_ns: int | None, *, goes_on: bool) -> Attempt:
    """The attempt of a request: a client that has begun another one has stopped waiting."""
    if goes_on and limit_ns is not None and seen.end_ns > limit_ns:
        error = seen.error or _SILENT
        return replace(seen, attempt=start.attempt, start_ns=start.start_ns, end_ns=limit_ns, error=error, status=None)
    return replace(seen, attempt=start.attempt, start_ns=start.start_ns)


def _place(attempt: Attempt) -> str:
    return f"queue {attempt.queue_id} of {attempt.broker}"
