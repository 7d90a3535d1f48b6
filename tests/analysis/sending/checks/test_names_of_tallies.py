"""The words under which a record keeps what checks counted."""

import importlib
import pkgutil
from collections.abc import Iterator

from rocketdiff.analysis import checks
from rocketdiff.analysis.sending import checks as checks_of_sends

WORDS = {
    "-slave-", "DELAY", "NeverCalledBack", "RemotingTooMuchRequestException", "UNIQ_KEY", "all-sends",
    "attempts", "attempts.blocked", "attempts.retried-after-silence", "attempts.seen", "avoidance",
    "avoidance.absence", "awake-", "callbacks", "callbacks.excused", "calm", "connections-left-open",
    "content", "delay", "delay.lateness", "duplication", "duplication.refused", "duration", "error-kind",
    "error-kind.seen", "failed", "failed-at-first", "failed/after-a-failed-attempt", "failover-time", "faults",
    "groups", "held-up", "incomparable", "judged", "known: after refusals", "known: at times", "known: never",
    "loss", "lost-ms", "moments", "not failed", "one-way absent", "one-way judged", "one-way stored", "order",
    "outcomes", "outcomes.connections", "outcomes.crowded", "outcomes.ended", "outcomes.failed-while-gone",
    "outcomes.failed-without-a-request", "outcomes.met", "outcomes.more", "outcomes.refused",
    "outcomes.refused-by-broker", "outcomes.slowest-in-a-hundred", "outcomes.without-success", "pace",
    "protocol", "protocol.attempt-not-told", "protocol.bad-line", "protocol.failed", "protocol.incomplete",
    "protocol.stalled", "queue-choice", "queue-choice.resets", "queue-choice.resets-to-first",
    "queue-choice.starts", "queue-choice.starts-together", "reserved/while-a-broker-waits", "resources",
    "resources.at-once", "returned", "rocketdiff.id", "rules", "sent-one-way-and-not-stored", "since-ns",
    "slow", "span-s", "start", "stayed-away", "stored", "stored-late", "stored-twice", "stored-with-a-reserve",
    "the place of the first thread of the case", "timing", "unavailable: ", "unknowable: ", "until-ns",
    "validity", "witness-",
}  # fmt: skip
"""Names and keys of tallies, and parts of signatures: of a stored record they are asked by these words."""


def _constants() -> Iterator[str]:
    """Every text in a constant of a module of checks, except sentences."""
    for package in (checks, checks_of_sends):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            named = vars(importlib.import_module(found.name)).items()
            yield from (text for name, text in named if name.lstrip("_").isupper() and isinstance(text, str))


def test_names_of_tallies_are_those_of_stored_records() -> None:
    """A renamed tally of a stored record would count as nothing."""
    assert {text for text in _constants() if len(text) < 50} == WORDS
