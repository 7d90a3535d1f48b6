"""The plan of a case on disk: one send a line, and a digest that shows whether two cases were given the same work."""

from rocketdiff.core.plan import Plan
from rocketdiff.protocol.commands import encode_plan as encode_plan_lines
from rocketdiff.traces.disk import digest_of


def encode_plan(plan: Plan) -> bytes:
    """The plan as a subject is given it, one line a send."""
    return b"".join(encode_plan_lines(plan))


def plan_digest(plan: Plan) -> str:
    """``sha256:…`` of the encoded plan: equal digests mean identical sends, times, calls and bodies."""
    return digest_of(encode_plan(plan))
