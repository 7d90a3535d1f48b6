"""What a subject's hello claims that its client can do: no plan asks for more, and what it tells keeps to the claim and to the plan's mode."""

from collections.abc import Sequence

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.plan import Plan, PlannedSend, SendMode
from rocketdiff.core.records import Attempt, Hello, Send

ATTEMPTS = "attempts"
"""The subject tells every attempt; of one that does not claim this the recording relay does."""

ROUTES = "routes"
"""The subject tells the publish lists of its client."""


def unclaimed(plan: Plan, hello: Hello) -> tuple[str, ...]:
    """Kinds and modes of the plan's sends that hello does not claim, each once, in their order; the synchronous mode needs no claim."""
    asked = [word for send in plan.sends for word in (send.kind.value, send.mode.value)]
    free = {SendMode.SYNC.value, *hello.capabilities}
    return tuple(word for word in dict.fromkeys(asked) if word not in free)


def why_not_claimed(plan: Plan, hello: Hello) -> str:
    """The same as a sentence for a report; empty when everything is claimed."""
    missing = unclaimed(plan, hello)
    if not missing:
        return ""
    said = ", ".join(hello.capabilities) or "nothing"
    asked = ", ".join(missing)
    return (
        f"{hello.client}:{hello.version} cannot be asked for {asked} sends: its hello claims {said}; leave the case out with"
        f" --scenario, or claim {asked} in hello once the client has the call"
    )


def require_claim(hello: Hello | None, claim: str, what: str) -> None:
    """SubjectBroken for a record that hello did not claim to tell: the relay tells it in the client's place."""
    if hello is None or claim not in hello.capabilities:
        expected = f"{claim} among the capabilities of hello, before any is told"
        raise SubjectBroken("protocol.not-claimed", expected=expected, seen=what)


def require_mode(planned: PlannedSend, send: Send) -> None:
    """
    SubjectBroken for an answer that a call of the planned mode does not have.

    An asynchronous call returns before or after its callback and tells when; nobody else has two ends, and a one-way call no result.
    """
    what = f"the answer to send {send.send}"
    if planned.mode is SendMode.ASYNC and send.returned_ns is None:
        raise _other_mode(f"{what}, an asynchronous call, with returned_ns", "none: was it sent synchronously?")
    if planned.mode is not SendMode.ASYNC and send.returned_ns is not None:
        raise _other_mode(f"{what}, planned {planned.mode}, without returned_ns", "that of an asynchronous call")
    if planned.mode is SendMode.ONEWAY and send.status is not None:
        raise _other_mode(f"{what}, a one-way call, without a status", f"{send.status}: was it sent synchronously?")


def require_attempts(hello: Hello | None, sends: Sequence[Send], attempts: Sequence[Attempt]) -> None:
    """SubjectBroken for a claim of attempts of which none was told: a send that was answered with a status has made at least one."""
    answered = sum(send.status is not None for send in sends)
    if hello is not None and ATTEMPTS in hello.capabilities and answered and not attempts:
        expected = "attempts, which hello claims to tell; without the claim the relay tells them"
        seen = f"none of {answered} sends that were answered with a status"
        raise SubjectBroken("protocol.unkept-claim", expected=expected, seen=seen)


def _other_mode(expected: str, seen: str) -> SubjectBroken:
    return SubjectBroken("protocol.other-mode", expected=expected, seen=seen)
