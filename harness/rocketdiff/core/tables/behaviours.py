"""
The described behaviours of a RocketMQ client: the rows that a scenario's ``covers`` names.

``fixtures/behaviours.md`` describes them with their numbers.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase

_RETRIES = ("*/retry", "retry.*")
_FROM_A_SLAVE = ("pulling.other-broker", "pulling.commit-at-a-slave")

_IN_VIRTUAL_TIME = "no scenario runs it on brokers: it is shown in virtual time, rocketdiff simulate"
_NOT_YET = "no scenario runs it yet"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """
    One row.

    checks: their answers measure it, in scenarios that cover it.
    only, but: globs of signatures. A difference in ``but``, or not in a non-empty ``only``, belongs to another behaviour.
    unmeasured: why no run can measure it; empty if one can.
    """

    row: str
    title: str
    checks: tuple[str, ...]
    only: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    unmeasured: str = ""

    def matches(self, signature: str) -> bool:
        wanted = not self.only or any(fnmatchcase(signature, glob) for glob in self.only)
        return wanted and not any(fnmatchcase(signature, glob) for glob in self.but)


def _simulated(row: str, title: str) -> Behaviour:
    return Behaviour(row, title, (), unmeasured=_IN_VIRTUAL_TIME)


def _later(row: str, title: str) -> Behaviour:
    return Behaviour(row, title, (), unmeasured=_NOT_YET)


BEHAVIOURS = {
    behaviour.row: behaviour
    for behaviour in (
        Behaviour("A1", "takes queues in turn", ("queue-choice",), but=_RETRIES),
        Behaviour("A2", "takes 5 and 6 queues in turn as well", ("queue-choice",), but=_RETRIES),
        Behaviour(
            "A3", "a retry skips the broker that failed", ("queue-choice", "attempts"), only=(*_RETRIES, "attempts.*")
        ),
        Behaviour("A4", "how far a retry moves the counter", ("queue-choice",)),
        Behaviour("A5", "messages of a key keep their order in one queue", ("order", "queue-choice")),
        Behaviour("B1", "latency of an attempt → how long its broker is avoided", ("avoidance",)),
        Behaviour("B2", "how long a broker is avoided after a failed attempt", ("avoidance",)),
        Behaviour("B3", "every attempt updates the fault table", ("avoidance",)),
        Behaviour("B4", "which brokers are available, and when again", ("avoidance", "queue-choice")),
        Behaviour("B5", "in which order brokers are preferred when none is available", ("avoidance", "queue-choice")),
        _simulated("B6", "rotates over the better half when none is available"),
        _simulated("B7", "the fallback renames a queue of the shared list"),
        _simulated("B8", "the published test program with two slow brokers"),
        _simulated("B9", "the first retry of that program stays at its broker"),
        Behaviour("B10", "all brokers slow: the less slow one gets the messages", ("avoidance", "queue-choice")),
        _simulated("B11", "one of four brokers failed: which one a retry takes"),
        Behaviour(
            "C1",
            "every kind of send is acknowledged, stored and called back as asked",
            ("outcomes", "loss", "content", "callbacks"),
        ),
        Behaviour("C2", "as many retries as configured, then the right exception", ("attempts", "error-kind")),
        Behaviour(
            "C3",
            "a send gets through when a broker is paused or dead",
            ("outcomes", "attempts", "queue-choice"),
            but=("*/first",),
        ),
        Behaviour("C4", "a message is stored twice only after an attempt without an answer", ("duplication", "loss")),
        Behaviour("C5", "delay levels are kept", ("delay",)),
        _later("C6", "transactions"),
        _simulated("D1", "retry with fault latency on, up to 4.7.1"),
        _simulated("D2", "retry with fault latency on, from 4.8.0"),
        _simulated("D3", "both generations of that rule side by side"),
        Behaviour("E1", "every name server is told of every broker", ("delivered",)),
        Behaviour(
            "E2",
            "sends and deliveries go on without a name server",
            ("outcomes", "attempts", "error-kind", "loss", "delivered", "redelivery"),
        ),
        _later("E3", "topics made by the first send"),
        Behaviour(
            "E4",
            "with masters and slaves: sends go to the masters that live, and nothing is lost",
            ("outcomes", "queue-choice", "attempts", "loss", "delivered"),
        ),
        Behaviour("E5", "reports the status of a missing replica", ("error-kind", "attempts", "outcomes")),
        Behaviour("E6", "reports a late flush; nothing acknowledged is lost", ("error-kind", "loss", "outcomes")),
        Behaviour(
            "E7",
            "finds a broker that came back at another address",
            ("outcomes", "queue-choice", "attempts", "loss"),
        ),
        Behaviour(
            "F1",
            "a message for which a consumer waits is delivered at once",
            ("delivered", "promptness", "resume-time", "pulling"),
            but=_FROM_A_SLAVE,
        ),
        Behaviour("F2", "each queue has one owner, also after members came and went", ("allocation", "takeover-time")),
        Behaviour(
            "F3",
            "a group gets each message once; broadcasting, each member does",
            ("delivered", "redelivery"),
        ),
        Behaviour("F4", "an orderly listener gets the messages of a queue in order", ("delivery-order",)),
        Behaviour("F5", "a failed message comes back after its delay, and at last is a dead letter", ("retries",)),
        Behaviour(
            "F6", "a backlog is kept, and consumed as fast as the listener allows", ("delivered", "flow-control")
        ),
        Behaviour(
            "F7",
            "messages of a dead master are read from its slave",
            ("delivered", "resume-time", "pulling"),
            only=("delivered.*", "resume-time.*", *_FROM_A_SLAVE),
        ),
        Behaviour(
            "F8",
            "what is not finished is delivered again, and what is committed is finished",
            ("redelivery", "offsets"),
        ),
    )
}
