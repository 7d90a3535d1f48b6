"""
The checks: every question that can be asked about a case.

The scenario format, run plans, ledger names, reports, SARIF and the simulation's list of unanswered checks are
generated from this table. ``analysis.registry`` has the code of each check.
"""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from rocketdiff.core.tables.roles import ClientRole


class Aspect(StrEnum):
    """A client's decision about a send that the rules may define."""

    FIRST_QUEUE = "queue of the first attempt"
    RETRY_QUEUE = "queue of a retry"
    END = "number of attempts, and the end"


class Need(StrEnum):
    """Precondition for a question to arise in a case; ``core.sends.knowable`` has condition and words."""

    FAULT_LATENCY = "the producer avoids slow brokers"
    LOST_BROKER = "a broker is paused or killed"
    CHOSEN_QUEUE = "the client chooses the queue"
    OWN_QUEUE = "no proxy chooses the queue"
    SYNCHRONOUS = "the call waits for its answer"
    KEPT_ORDER = "the call waits, and names its queue"
    CALLBACK = "the call has a callback"
    DELAYED_MESSAGE = "a message has a delay level"


class CheckKind(StrEnum):
    """EXACT: a single difference counts. STATISTICAL: durations of pause episodes; only their pool over all cases gates."""

    EXACT = "exact"
    STATISTICAL = "statistical"


class Concern(IntEnum):
    """Cost of a difference to the owner of a client, most serious first."""

    MESSAGES = 0
    EXCEPTIONS = 1
    WAITING = 2
    BROKERS = 3
    DURATIONS = 4
    QUEUES = 5


@dataclass(frozen=True, slots=True)
class Check:
    """
    One question.

    sentence: holds if both clients conform.
    needs: in the order in which obstacles are reported.
    rests_on: aspect of the rules that it compares with observations; None if it uses no rules, or only where
        everything is known.
    reads_attempts: void if the wire contradicts what the client reports about its attempts.
    reads_wire: needs a relay before each client.
    cluster_only: why the simulation cannot answer it; empty if it can.
    is_implicit: applies to every case of its role; never written in a scenario.
    role: of the clients that it asks about; None for every role.
    is_about_the_run: shows whether the run can be judged.
    judges_each_member: asked of a broadcasting group too, whose members share neither queues nor offsets.
    judges_polls: asked of a group of lite pull consumers too, which have no listener, no retries and threads of another kind.
    """

    name: str
    sentence: str
    concern: Concern
    kind: CheckKind = CheckKind.EXACT
    needs: tuple[Need, ...] = ()
    rests_on: Aspect | None = None
    reads_attempts: bool = False
    reads_wire: bool = False
    cluster_only: str = ""
    is_implicit: bool = False
    is_about_the_run: bool = False
    role: ClientRole | None = ClientRole.PRODUCER
    judges_each_member: bool = False
    judges_polls: bool = False


_NOTHING_STORED = "nothing is stored"
_NO_GROUP = "a script has no group of consumers"
_NO_SCATTER = "virtual time does not scatter"

VALIDITY = "validity"
"""The check of the set-up, not of a client; no ledger excuses it."""

CHECKS = {
    check.name: check
    for check in (
        Check(
            "queue-choice",
            "Every attempt goes to a queue that the rules of the client's release allow there.",
            Concern.QUEUES,
            needs=(Need.OWN_QUEUE,),
            rests_on=Aspect.FIRST_QUEUE,
            reads_attempts=True,
        ),
        Check(
            "attempts",
            "A send makes as many attempts, and after the same failures, as the rules of its release say.",
            Concern.WAITING,
            rests_on=Aspect.END,
            reads_attempts=True,
        ),
        Check(
            "avoidance",
            "A slow or failed broker is avoided for as long as the rules of the release say.",
            Concern.BROKERS,
            needs=(Need.OWN_QUEUE, Need.FAULT_LATENCY, Need.CHOSEN_QUEUE, Need.SYNCHRONOUS),
            reads_attempts=True,
        ),
        Check(
            "error-kind",
            "A send that fails does so with the exception and code that the rules of the release say.",
            Concern.EXCEPTIONS,
            rests_on=Aspect.END,
            reads_attempts=True,
        ),
        Check(
            "timing",
            "A send whose first attempt goes to a paused broker takes as long as the other client's, within the scenario's margin.",
            Concern.DURATIONS,
            CheckKind.STATISTICAL,
            needs=(Need.SYNCHRONOUS,),
            cluster_only=_NO_SCATTER,
        ),
        Check(
            "failover-time",
            "The first success after a pause comes as soon as the other client's, within the margin.",
            Concern.DURATIONS,
            CheckKind.STATISTICAL,
            needs=(Need.LOST_BROKER, Need.CHOSEN_QUEUE, Need.SYNCHRONOUS),
            cluster_only=_NO_SCATTER,
        ),
        Check("loss", "Every acknowledged message is stored.", Concern.MESSAGES, cluster_only=_NOTHING_STORED),
        Check(
            "duplication",
            "A message is stored more than once only where an attempt of it had no answer.",
            Concern.MESSAGES,
            reads_attempts=True,
            cluster_only=_NOTHING_STORED,
        ),
        Check(
            "content",
            "A message is stored with the body, keys, tags and properties that it was sent with.",
            Concern.MESSAGES,
            cluster_only=_NOTHING_STORED,
        ),
        Check(
            "order",
            "Messages of a key are stored in the order in which they were sent.",
            Concern.MESSAGES,
            needs=(Need.KEPT_ORDER,),
            cluster_only=_NOTHING_STORED,
        ),
        Check(
            "callbacks",
            "The callback of an asynchronous send is called once, when its answer has come.",
            Concern.MESSAGES,
            needs=(Need.CALLBACK,),
            cluster_only="a script reports the first callback only",
        ),
        Check(
            "delay",
            "A delayed message is kept back under its level, and delivered when it is due.",
            Concern.MESSAGES,
            needs=(Need.DELAYED_MESSAGE,),
            cluster_only=_NOTHING_STORED,
        ),
        Check(
            "outcomes",
            "Sends fail, are stored twice and are acknowledged as those of the other client, and never without a cause.",
            Concern.MESSAGES,
            reads_attempts=True,
            is_implicit=True,
        ),
        Check(
            "pace",
            "A message gets through as soon after it is due as the other client's.",
            Concern.WAITING,
            cluster_only=_NO_SCATTER,
            is_implicit=True,
        ),
        Check(
            "resources",
            "The process of the client gives back threads, memory and files, and is idle when it has nothing to do.",
            Concern.WAITING,
            cluster_only="a script has no process of its own",
            is_implicit=True,
            role=None,
        ),
        Check(
            "delivered",
            "Every stored message is handed to the group, and as it was stored.",
            Concern.MESSAGES,
            cluster_only=_NO_GROUP,
            role=ClientRole.CONSUMER,
            judges_each_member=True,
            judges_polls=True,
        ),
        Check(
            "redelivery",
            "A message is delivered again only with a cause, and a member begins a queue where the group stopped and leaves nothing out.",
            Concern.MESSAGES,
            cluster_only=_NO_GROUP,
            role=ClientRole.CONSUMER,
            judges_each_member=True,
            judges_polls=True,
        ),
        Check(
            "delivery-order",
            "An orderly group consumes each queue in order, one call at a time, by the member that has locked it.",
            Concern.MESSAGES,
            cluster_only=_NO_GROUP,
            role=ClientRole.CONSUMER,
        ),
        Check(
            "retries",
            "A message whose listener failed comes back once, after its delay, and counts its failures.",
            Concern.MESSAGES,
            cluster_only=_NO_GROUP,
            role=ClientRole.CONSUMER,
        ),
        Check(
            "offsets",
            "What is committed is finished, and what is finished is committed in time, by the member that works on the queue.",
            Concern.MESSAGES,
            cluster_only=_NO_GROUP,
            role=ClientRole.CONSUMER,
            judges_polls=True,
        ),
        Check(
            "allocation",
            "Each member takes the share of the queues that the rules give it, and each queue has one owner.",
            Concern.QUEUES,
            cluster_only=_NO_GROUP,
            role=ClientRole.CONSUMER,
            judges_polls=True,
        ),
        Check(
            "pulling",
            "A queue has one pull at a time, at the right broker, from the offset that the last answer named.",
            Concern.QUEUES,
            reads_attempts=True,
            reads_wire=True,
            cluster_only=_NO_GROUP,
            role=ClientRole.CONSUMER,
        ),
        Check(
            "flow-control",
            "A member holds back as many messages of a queue as it may, and goes on when they are finished.",
            Concern.WAITING,
            cluster_only=_NO_GROUP,
            role=ClientRole.CONSUMER,
        ),
        Check(
            "promptness",
            "A message for which a member waits reaches the listener at once.",
            Concern.WAITING,
            cluster_only=_NO_GROUP,
            role=ClientRole.CONSUMER,
            judges_polls=True,
        ),
        Check(
            "resume-time",
            "The first message after a fault of its broker comes as soon as the other group's, within the margin.",
            Concern.WAITING,
            CheckKind.STATISTICAL,
            cluster_only=_NO_GROUP,
            role=ClientRole.CONSUMER,
        ),
        Check(
            "takeover-time",
            "After members came or went, the work on their queues goes on as soon as the other group's, within the margin.",
            Concern.WAITING,
            CheckKind.STATISTICAL,
            cluster_only=_NO_GROUP,
            role=ClientRole.CONSUMER,
            judges_polls=True,
        ),
        Check(
            "consumption",
            "Members join, and messages reach the listener in calm as soon as the other group's.",
            Concern.WAITING,
            cluster_only=_NO_GROUP,
            is_implicit=True,
            role=ClientRole.CONSUMER,
            judges_each_member=True,
            judges_polls=True,
        ),
        Check(
            "protocol",
            "The subject reports its sends in time, in order and without contradiction.",
            Concern.MESSAGES,
            is_implicit=True,
            is_about_the_run=True,
            role=None,
        ),
        Check(
            VALIDITY,
            "The set-up of the case held: faults proven, both clients in time, everything read back.",
            Concern.QUEUES,
            is_implicit=True,
            is_about_the_run=True,
            role=None,
        ),
    )
}

ASKED = tuple(name for name, check in CHECKS.items() if not check.is_implicit)
"""Checks that a scenario may list."""


def asked_for(role: ClientRole, kind: CheckKind | None = None) -> tuple[str, ...]:
    """Return the checks that a scenario about a role may list, of one kind or of both."""
    return tuple(name for name in ASKED if CHECKS[name].role is role and kind in (None, CHECKS[name].kind))


IMPLICIT = tuple(name for name, check in CHECKS.items() if check.is_implicit)
"""Checks that apply to every case of their role."""


def implicit_for(role: ClientRole) -> tuple[str, ...]:
    """Return the checks that apply to every case of a role."""
    return tuple(name for name in IMPLICIT if CHECKS[name].role in (None, role))


STATISTICAL = tuple(name for name, check in CHECKS.items() if check.kind is CheckKind.STATISTICAL)
"""Checks that pool durations over cases and accept a tolerance."""

READS_WIRE = frozenset(name for name, check in CHECKS.items() if check.reads_wire)
"""Checks that need a relay before each client."""

ABOUT_THE_RUN = frozenset(name for name, check in CHECKS.items() if check.is_about_the_run)
"""A pass shows nothing about a client's behaviour. They also cover a subject that broke off."""

OF_QUEUES = tuple(name for name, check in CHECKS.items() if Need.OWN_QUEUE in check.needs)
"""Checks of the client's queue choice; behind a proxy they are NOT_APPLICABLE."""

REPORT_ORDER = (*reversed(IMPLICIT), *ASKED)
"""Checks that can make every other answer void come first."""
