"""Capabilities claimed in hello: what a plan may need and which records a subject may write."""

from collections.abc import Collection, Sequence

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.records.sending import UNSEEN_END, Attempt, Send
from rocketdiff.core.records.session import ATTEMPT_STARTS, ATTEMPTS, CAUSES, Hello
from rocketdiff.core.security import ACL, TLS
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind, SendMode
from rocketdiff.core.subject import ClientProtocol

ROUTES = "routes"
"""Capability: the subject reports its client's publish lists."""

SETTING = "setting:"
"""Prefix of a claim for a setting that not every release of the client has."""


def is_offered(capabilities: Collection[str], kind: SendKind, mode: SendMode) -> bool:
    """True if the capabilities include this kind of send in this mode; the synchronous mode needs no claim."""
    return kind.value in capabilities and (mode is SendMode.SYNC or mode.value in capabilities)


def unclaimed(plan: Plan, hello: Hello) -> tuple[str, ...]:
    """Return kinds and modes of the plan's sends that hello does not claim, each once, in order."""
    asked = [word for send in plan.sends for word in (send.kind.value, send.mode.value)]
    free = {SendMode.SYNC.value, *hello.capabilities}
    return tuple(word for word in dict.fromkeys(asked) if word not in free)


def unknown_claims(claims: Collection[str]) -> tuple[str, ...]:
    """Return claims unknown to this protocol version (newer or misspelt), in their order."""
    known = {*SendKind, *SendMode, ATTEMPTS, ATTEMPT_STARTS, ROUTES, CAUSES, ACL, TLS, ClientProtocol.GRPC}
    return tuple(claim for claim in claims if claim not in known and not claim.startswith(SETTING))


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


def require_claim(hello: Hello | None, claim: str, what: str) -> None:
    """Raise SubjectBroken for a kind of record that hello does not claim, because the relay reports it instead."""
    if hello is None or claim not in hello.capabilities:
        expected = f"{claim} among the capabilities of hello, before the first such record"
        raise SubjectBroken("protocol.not-claimed", expected=expected, seen=what)


def require_attempt_claim(hello: Hello | None, attempt: Attempt, mode: SendMode) -> None:
    """Raise SubjectBroken for an unclaimed attempt, one with an end if only starts are claimed, or one without if ends are."""
    has_only_begun = (attempt.error, attempt.end_ns) == (UNSEEN_END, attempt.start_ns)
    if hello is None or not hello.reports_starts:
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
