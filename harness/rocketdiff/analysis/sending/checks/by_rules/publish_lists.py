"""
Did each client build the publish list that the rules require: every queue once, by broker name and queue id?

Examines the first list each arm reported, before any fault. Every choice is judged by the list its own client reported,
so a list without a broker, or in another order, would explain itself. If ``run.json`` names no brokers, the candidate's
list is compared with the baseline's. An arm without a list is skipped. Differences belong to the check ``queue-choice``
and to no single send.
"""

from collections.abc import Iterable
from itertools import groupby

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.sending.checks.context import CaseObserver
from rocketdiff.analysis.sending.send_facts import SendFacts
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.signatures import OTHER_PUBLISH_LIST

PublishList = tuple[tuple[str, int], ...]


class PublishLists(CaseObserver):
    """Compares the lists, which are in the trace beside the sends."""

    def observe(self, send: AlignedSend) -> None:
        """A send says nothing about the list."""

    def finish(self) -> None:
        compare_publish_lists(self._context.trace, self._collector)


def compare_publish_lists(trace: CaseTrace, collector: SendFacts) -> None:
    """Note every arm whose first list is wrong; the baseline's signature blames the rules."""
    firsts = {arm: first for arm in Arm if (first := _first_list(trace, arm)) is not None}
    expected = _full_list(trace) or firsts.get(Arm.BASELINE)
    for arm, first in firsts.items():
        if expected is not None and first != expected:
            collector.differ_at(
                OTHER_PUBLISH_LIST,
                arm,
                of_rules=arm is Arm.BASELINE,
                phase="start",
                at_ns=collector.origin_ns,
                expected=f"turns taken along the list {_in_words(expected)}",
                observed=f"the client's first list is {_in_words(first)}",
            )


def _first_list(trace: CaseTrace, arm: Arm) -> PublishList | None:
    routes = trace.routes(arm)
    return routes[min(routes)] if routes else None


def _full_list(trace: CaseTrace) -> PublishList:
    """All queues of the topic; empty if the brokers were not recorded."""
    entry = trace.entry
    return tuple((broker, queue) for broker in sorted(entry.brokers) for queue in range(entry.queues_per_broker))


def _in_words(queues: Iterable[tuple[str, int]]) -> str:
    """Queues in order, as in ``broker-a 0 1 2 3, broker-b 0 1 2 3``."""
    groups = ((broker, [queue for _, queue in group]) for broker, group in groupby(queues, key=lambda queue: queue[0]))
    return ", ".join(f"{broker} {' '.join(map(str, numbers))}" for broker, numbers in groups) or "empty"
