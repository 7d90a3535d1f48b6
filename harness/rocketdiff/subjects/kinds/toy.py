"""Toy subjects: the reference with one known defect each; a run must find it."""

from dataclasses import dataclass
from pathlib import Path

from rocketdiff.core.consuming.plan import ListenerKind
from rocketdiff.core.demand import GroupDemand, SendDemand
from rocketdiff.core.errors import UsageError
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.subjects.kind import Kind, every_security
from rocketdiff.subjects.kinds.python import has_group, module_launch
from rocketdiff.subjects.program import Launch
from rocketdiff.subjects.reported_defects import REPORTED_DEFECTS

CLIENT = "toy"

NEWEST_READ = "5.3.3"
"""Release whose rules every toy follows: the newest that was read from its source."""

DEFECTS = {
    "honest": "none at all",
    "answers-twice": "reports some sends twice",
    "dies-mid-send": "exits in the middle of a send",
    "stalls": "never returns from a send",
    "lies-about-queue": "reports another queue of the broker that it sent to",
    "sends-twice": "sends some messages twice and reports one",
    "drops": "reports success without having sent",
    "ignores-retries": "gives up after the first failed attempt",
    "speaks-nonsense": "writes a line that is not a record",
    "never-calls-back": "does not call back for some asynchronous sends",
    "calls-back-twice": "calls back twice for some asynchronous sends",
    "reorders": "has some messages of a key overtaken by the next",
    "drops-a-property": "sends some messages without their keys and properties",
    "forgets-delays": "sends some delayed messages without their delay",
    "ignores-mode": "reports some asynchronous sends as synchronous",
    "plain-only": "claims plain synchronous sends only",
    "no-hooks": "claims no attempts and reports none",
    "fails-in-calm": "reports a lost connection for some sends",
    "loses-answers": "throws some answers away and sends the message again",
    "keeps-no-timeout": "waits thirty times as long as its timeout",
    "early": "waits half as long as its timeout",
    "async-no-failover": "retries an asynchronous send at the broker that has just failed",
    "ok-without-answer": "reports success as soon as a request is written",
    **{name: defect.sentence for name, defect in REPORTED_DEFECTS.items()},
    "leaks-connections": "leaves a connection open at some sends",
    "lies-about-status": "reports SEND_OK for every status of the broker",
    "keeps-addresses": "goes for ever to the address at which it first found a broker",
    "always-begins-at-zero": "begins every case at the same queue",
}

MEMBER_DEFECTS = {
    "honest-member": "none at all, as a member of a group",
    "loses": "acknowledges some messages without calling the listener",
    "doubles": "calls the listener twice for some messages",
    "commits-early": "commits a message before its call has ended",
    "loses-tags": "shows some messages without their tags",
    "stands-still": "stops delivering from a queue that was silent for two seconds",
    "pulls-in-a-loop": "asks for a queue again while its pull is held",
    "wrong-share": "takes the queues of the next member",
    "keeps-a-lost-queue": "goes on with a queue that belongs to another member",
    "never-gives-up-a-queue-cleanly": "commits nothing when it gives a queue up or leaves",
    "reorders-a-queue": "consumes some messages of a queue before the one in front of them",
    "ignores-locks": "consumes in order without locking its queues",
    "ignores-max-retries": "has a failed message come back sixteen times, whatever is set",
    "skips-the-dead-letters": "acknowledges a message that has failed as often as it may",
    "jumps-to-the-end": "begins at the end of a queue whose offset is committed",
    "keeps-threads": "starts a thread for some messages and never ends it",
    "hookless-member": "none at all, as a member that reports its calls only",
    "hookless-loses": "as loses, and reports its calls only",
    "hookless-leaves-a-queue": "takes its share without the last queue, and reports its calls only",
    "hookless-pulls-in-a-loop": "as pulls-in-a-loop, and reports its calls only",
}
"""Of toys that consume."""

POLLER_DEFECTS = {
    "honest-poller": "none at all, as a lite pull consumer",
    "commits-before-the-poll": "commits messages before a poll hands them out",
    "never-commits": "commits nothing that its polls hand out",
    "loses-at-a-rebalance": "commits what waits for a poll when it gives a queue up, and never hands it out",
    "assigns-only-the-first-queue": "consumes only the first of the queues that its application assigns to it",
    "ignores-seeks": "goes on with a queue where it was, wherever its application goes",
    "keeps-what-it-had-at-a-seek": "hands out after a seek what it had pulled before",
    "delivers-while-paused": "goes on pulling from queues that its application pauses",
    "loses-what-waits-at-a-pause": "throws away what waits for a poll when its queue is paused",
    "never-resumes": "pulls no more from a queue that was paused once",
}
"""Of toys that poll; the others that consume have a listener."""

HOOKLESS = "hookless-"
"""Prefix of those that report no allocations, owned queues or offsets: their relays show these."""


def toy_program(subject: SubjectId) -> "ToyProgram":
    """Return the program of ``toy:<defect>``; raises UsageError for an unknown defect."""
    known = (*DEFECTS, *MEMBER_DEFECTS, *POLLER_DEFECTS)
    if subject.release not in known:
        raise UsageError("a toy with a known defect", seen=str(subject), hint=", ".join(known))
    return ToyProgram(subject)


@dataclass(frozen=True, slots=True)
class ToyProgram:
    """One toy."""

    subject: SubjectId

    def launch(self, folder: Path) -> Launch:
        return module_launch("rocketdiff.drivers.python.toy", folder, "--defect", self.subject.release)


def _is_producer(defect: str, _demand: SendDemand) -> bool:
    return defect in DEFECTS


def _is_member(defect: str, demand: GroupDemand) -> bool:
    defects = POLLER_DEFECTS if ListenerKind.LITE_PULL in demand.capabilities else MEMBER_DEFECTS
    return defect in defects and has_group(NEWEST_READ, demand)


KIND = Kind(
    CLIENT,
    lambda: (*DEFECTS, *MEMBER_DEFECTS, *POLLER_DEFECTS),
    toy_program,
    offers={ClientRole.PRODUCER: _is_producer, ClientRole.CONSUMER: _is_member},
    security=every_security,
)
