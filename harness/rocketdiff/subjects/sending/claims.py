"""Capabilities of a producer: what a plan may need and which records it may write."""

from collections.abc import Collection, Sequence

from rocketdiff.core.demand import SendDemand
from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.records.sending import ATTEMPT_STARTS, ATTEMPTS, UNSEEN_END, Attempt, Send, reports_starts
from rocketdiff.core.records.session import Hello
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendMode
from rocketdiff.subjects.claims import require_claim


def unclaimed_of_send(capabilities: Collection[str], demand: SendDemand) -> tuple[str, ...]:
    """Return kind and mode of a send, as far as the capabilities lack them; the synchronous mode needs no claim."""
    needed = (demand.kind.value, *([] if demand.mode is SendMode.SYNC else [demand.mode.value]))
    return tuple(word for word in needed if word not in capabilities)


def unclaimed(plan: Plan, hello: Hello) -> tuple[str, ...]:
    """Return kinds and modes of the plan's sends that hello does not claim, each once, in order."""
    asked = [word for send in plan.sends for word in (send.kind.value, send.mode.value)]
    free = {SendMode.SYNC.value, *hello.capabilities}
    return tuple(word for word in dict.fromkeys(asked) if word not in free)


def why_not_claimed(plan: Plan, hello: Hello) -> str:
    """Return the unclaimed kinds and modes as a sentence for a report; empty if all are claimed."""
    missing = unclaimed(plan, hello)
    if not missing:
        return ""
    claimed = ", ".join(hello.capabilities) or "nothing"
    asked = ", ".join(missing)
    return (
        f"{hello.client}:{hello.version} cannot be asked for {asked} sends: its hello claims {claimed}; leave the case out with"
        f" --scenario, or claim {asked} in hello once the client has the call"
    )


def require_attempt_claim(hello: Hello | None, attempt: Attempt, mode: SendMode) -> None:
    """Raise SubjectBroken for an unclaimed attempt, one with an end if only starts are claimed, or one without if ends are."""
    has_only_begun = (attempt.error, attempt.end_ns) == (UNSEEN_END, attempt.start_ns)
    if not reports_starts(hello):
        require_claim(hello, ATTEMPTS, f"attempt {attempt.attempt} of send {attempt.send}")
        if has_only_begun and mode is not SendMode.ASYNC:  # the hook of an asynchronous send may not see the end
            seen = f"attempt {attempt.attempt} of send {attempt.send} without"
            raise SubjectBroken(
                "protocol.not-claimed", expected=f"an end of each attempt, or {ATTEMPT_STARTS} in hello", seen=seen
            )
    elif not has_only_begun:
        expected = (
            f"attempts without end_ns, error and status, as {ATTEMPT_STARTS} in hello says; {ATTEMPTS} claims ends"
        )
        seen = f"attempt {attempt.attempt} of send {attempt.send} with an end"
        raise SubjectBroken("protocol.not-claimed", expected=expected, seen=seen)


def require_mode(planned: PlannedSend, send: Send) -> None:
    """
    Raise SubjectBroken for an answer that does not fit the mode of the send.

    Only an asynchronous call has a return time besides the time of its callback; a one-way call has no result.
    """
    what = f"the answer to send {send.send}"
    if planned.mode is SendMode.ASYNC and send.returned_ns is None:
        raise _other_mode(f"{what}, an asynchronous call, with returned_ns", "none: was it sent synchronously?")
    if planned.mode is not SendMode.ASYNC and send.returned_ns is not None:
        raise _other_mode(f"{what}, planned {planned.mode}, without returned_ns", "that of an asynchronous call")
    if planned.mode is SendMode.ONEWAY and send.status is not None:
        raise _other_mode(f"{what}, a one-way call, without a status", f"{send.status}: was it sent synchronously?")


def require_attempts(hello: Hello | None, sends: Sequence[Send], attempts: Sequence[Attempt]) -> None:
    """Raise SubjectBroken if attempts are claimed but none is reported although sends were answered with a status."""
    answered = sum(send.status is not None for send in sends)
    if hello is not None and {ATTEMPTS, ATTEMPT_STARTS} & {*hello.capabilities} and answered and not attempts:
        expected = "attempts, as hello claims; without the claim the relay reports them"
        seen = f"none of {answered} sends that were answered with a status"
        raise SubjectBroken("protocol.unkept-claim", expected=expected, seen=seen)


def _other_mode(expected: str, seen: str) -> SubjectBroken:
    return SubjectBroken("protocol.other-mode", expected=expected, seen=seen)
