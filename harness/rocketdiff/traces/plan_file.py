"""The plan of a case on disk: one send a line, and a digest that shows whether two cases were given the same work."""

import msgspec

from rocketdiff.core.plan import Plan, plan_line
from rocketdiff.traces.disk import digest_of


def encode_plan(plan: Plan) -> bytes:
    """The plan's sends, one JSON line each, in their order."""
    return b"".join(msgspec.json.encode(plan_line(send)) + b"\n" for send in plan.sends)


def plan_digest(plan: Plan) -> str:
    """``sha256:…`` of the encoded plan: equal digests mean identical sends, times, calls and bodies."""
    return digest_of(encode_plan(plan))
