"""Toy subjects: the reference with one known defect each; a run must find it."""

from dataclasses import dataclass
from pathlib import Path

from rocketdiff.core.errors import UsageError
from rocketdiff.core.subject import SubjectId
from rocketdiff.subjects.kind import Kind, every_security
from rocketdiff.subjects.kinds.python import module_launch
from rocketdiff.subjects.program import Launch
from rocketdiff.subjects.reported_defects import REPORTED_DEFECTS

CLIENT = "toy"

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
    "always-begins-at-zero": "begins every case at the same queue",
}


def toy_program(subject: SubjectId) -> "ToyProgram":
    """Return the program of ``toy:<defect>``; raises UsageError for an unknown defect."""
    if subject.release not in DEFECTS:
        raise UsageError("a toy with a known defect", seen=str(subject), hint=", ".join(DEFECTS))
    return ToyProgram(subject)


@dataclass(frozen=True, slots=True)
class ToyProgram:
    """One toy."""

    subject: SubjectId

    def launch(self, folder: Path) -> Launch:
        return module_launch("rocketdiff.drivers.python.toy", folder, "--defect", self.subject.release)


KIND = Kind(CLIENT, lambda: tuple(DEFECTS), toy_program, security=every_security)
