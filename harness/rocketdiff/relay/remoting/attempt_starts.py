"""
Attempts of a client that reports only their starts: the reported starts, joined with the ends on the wire.

A hook that selects the queue sees the start of each attempt but not its end. The wire shows the ends, but not the attempts
whose request never reached the relay. Together they show everything:

    for an attempt of the client, the wire has              the attempt ends
    ------------------------------------------------------  --------------------------------------------------------------
    a request for the same queue, before the next start     as on the wire, at the next start at the latest
    none; the broker refused connections then               at the next start or the end of the call: refused
    none; a connection to the broker was lost then          likewise: connection lost
    none; the time of the call had run out                  likewise: no time left
    none, for no such reason                                likewise; the two witnesses disagree
    a request without a reported start                      the witnesses disagree; if the call never returned: as on the wire
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.relay.remoting.cross_check import LOSS_NOTICED_NS, NO_TIME_NS, Losses
from rocketdiff.relay.remoting.exchanges import END_OF_TIME_NS

_SILENT, _REFUSED, _LOST = "RemotingTimeoutException", "RemotingConnectException", "RemotingSendRequestException"
_NO_TIME = "RemotingTooMuchRequestException"


@dataclass(frozen=True, slots=True)
class Begun:
    """attempts: complete, ordered by send. against: one sentence per send on which client and wire disagree."""

    attempts: tuple[Attempt, ...]
    against: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Wire:
    """When brokers refused connections, when connections were lost, and the timeout of an attempt."""

    refusals: Losses
    losses: Losses
    timeout_ns: int

    def why_unseen(self, attempt: Attempt, returned: Send | None) -> str | None:
        """Return the error of an attempt without a request; None if nothing explains the absence."""
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
    Return every attempt that the client began, with its end.

    begun: as reported, in order. seen: from ``attempts_of``. sends: those that returned. refusals: times at which each broker
    refused connections. losses: from ``losses_of``.
    """
    wire = _Wire(refusals, losses, timeout_ns)
    reported, requests = _by_send(begun), _by_send(seen)
    attempts: list[Attempt] = []
    against: list[str] = []
    for send in sorted(reported.keys() | requests.keys()):
        made, problem = _of_send(reported[send], requests[send], sends.get(send), wire)
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
    """Return the attempts of a send, and the disagreement of the witnesses in words or an empty string."""
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
            problem = f"it began one at {_place(start)}, but no request for it was on the wire"
        # A one-way call that returned without an error did not notice that its request was lost.
        is_untold = start.oneway and returned is not None and returned.error is None
        attempts.append(replace(unseen, error=None if is_untold else error or _LOST))
    if returned is None:  # The client died: its last requests reached the relay, its last records did not reach stdout.
        attempts += [replace(request, attempt=number) for number, request in enumerate(left, start=len(attempts))]
    elif left and not problem:
        problem = f"a request for {_place(left[0])} was on the wire, which it did not report as begun"
    return attempts, problem


def _is_request_of(start: Attempt, seen: Attempt, limit_ns: int | None) -> bool:
    """True if the request belongs to the start; the relay may read it after the call has returned."""
    latest_ns = END_OF_TIME_NS if limit_ns is None else limit_ns + LOSS_NOTICED_NS
    return (start.broker, start.queue_id) == (seen.broker, seen.queue_id) and (
        start.start_ns <= seen.start_ns <= latest_ns
    )


def _ended(start: Attempt, seen: Attempt, limit_ns: int | None, *, goes_on: bool) -> Attempt:
    """Return the attempt with its end; a client that starts another attempt has stopped waiting."""
    if goes_on and limit_ns is not None and seen.end_ns > limit_ns:
        error = seen.error or _SILENT
        return replace(seen, attempt=start.attempt, start_ns=start.start_ns, end_ns=limit_ns, error=error, status=None)
    return replace(seen, attempt=start.attempt, start_ns=start.start_ns)


def _place(attempt: Attempt) -> str:
    return f"queue {attempt.queue_id} of {attempt.broker}"
