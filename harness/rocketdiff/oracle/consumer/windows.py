"""
How long the rules let a queue stand still: after a fault of its broker, after a change of members, and beside both.

Each function is a row of the table of windows, with its differences between releases; times are in ns. They are the rules' longest times;
a caller adds what a busy machine may take (``MARGIN_NS``).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from rocketdiff.core.errors import UsageError
from rocketdiff.core.units import NS_PER_MS, NS_PER_S
from rocketmq_reference.dialects import consumer_rules_of
from rocketmq_reference.rules.consumer.consumer_rules import ConsumerRules
from rocketmq_reference.rules.consumer.orderly import (
    GIVE_UP_WAIT_MS,
    GIVE_UP_WAIT_SINCE_5_2_0_MS,
    REFUSED_MS,
    UNLOCK_DELAY_MS,
    bounded_suspend_ms,
)
from rocketmq_reference.rules.consumer.settings import LOCK_RENEWAL_MS, SUSPEND_MS

MARGIN_NS = 5 * NS_PER_S
"""What a busy machine may add to a rule's longest time; one that stalls for longer makes the case invalid (``awake-*``)."""

HOLD_NS = 5 * NS_PER_S
"""A broker looks at the pulls that it holds every 5 s (PullRequestHoldService), so a message in its log waits no longer."""

FLOW_CONTROL = 215
"""Code of a broker that is too busy to answer (ResponseCode)."""

PULL_TIMEOUT_NS = 30 * NS_PER_S
PULL_TIMEOUT_SCAN_NS = NS_PER_S
"""A pull without an answer ends after 30 s, seen by a scan every second."""

ASKED_NS = 3 * NS_PER_S
"""Timeout of a heartbeat and of a question for the group's ids (mqClientApiTimeout); it closes the connection."""

OFFSET_ASKED_NS = 5 * NS_PER_S
"""Timeout of the question for a new queue's offset; a round asks for one queue after the other."""

FORGOTTEN_NS = 130 * NS_PER_S
"""A broker forgets a member 120 s after its last heartbeat, with a scan every 10 s (ClientHousekeepingService)."""

REGISTERS_NS = 30 * NS_PER_S
"""A broker registers every 30 s (registerNameServerPeriod); no route has it from the end of its connection until then."""

NEVER_NS = 1 << 60
"""After the end of every case."""

RECONNECT_NS = NS_PER_S
"""From a resume or restart to the heartbeat on a new connection, where a release sends one."""

BROKER_LOCK_NS = 60 * NS_PER_S
"""A broker keeps the lock of a queue for so long since it was renewed (RebalanceLockManager)."""

LOCK_ASKED_NS = NS_PER_S + REFUSED_MS * NS_PER_MS
"""A run without a lock asks for it again: timeout of the question, and the wait after a refusal."""

_DEFAULT_MS = {
    "heartbeat_broker_interval_ms": 30_000,
    "poll_name_server_interval_ms": 30_000,
    "rebalance_wait_interval_ms": 20_000,
}
"""Defaults of every release."""


def suspended_ms(asked_ms: int | None, settings: Mapping[str, int | str]) -> int:
    """
    From a failed call of an orderly listener to the next one of its queue, at the least.

    asked_ms: what the listener asked for, None for nothing. settings: those that the scenario names.
    """
    default_ms = int(settings.get("suspend_current_queue_time_ms", SUSPEND_MS))
    return bounded_suspend_ms(default_ms if asked_ms is None else asked_ms)


@dataclass(frozen=True, slots=True)
class Windows:
    """
    The windows of one release with a case's settings of its consumers.

    heartbeat_ns, route_poll_ns, round_ns: periods of the client. pull_failure_ns: from a failed pull to the next.
    """

    rules: ConsumerRules
    heartbeat_ns: int
    route_poll_ns: int
    round_ns: int
    pull_failure_ns: int
    round_min_ns: int
    is_orderly: bool = False
    renewal_ns: int = LOCK_RENEWAL_MS * NS_PER_MS

    @classmethod
    def of(cls, release: str, settings: Mapping[str, int | str], *, is_orderly: bool = False) -> Self:
        """settings: those that the scenario names. is_orderly: the group consumes in order. Raises UsageError for a release without rules."""
        try:
            rules = consumer_rules_of(release)
        except ValueError as error:
            raise UsageError("a release whose rules are known", seen=repr(release), hint=str(error)) from error

        def ns(name: str, default_ms: int) -> int:
            return int(settings.get(name, default_ms)) * NS_PER_MS

        heartbeat_ns, route_poll_ns, round_ns = (ns(name, _DEFAULT_MS[name]) for name in _DEFAULT_MS)
        return cls(
            rules,
            heartbeat_ns,
            route_poll_ns,
            round_ns,
            ns("pull_time_delay_when_exception_ms", rules.pull_failure_delay_ms),
            ns("rebalance_min_interval_ms", rules.round_min_interval_ms) if rules.round_min_interval_ms else 0,
            is_orderly,
            ns("lock_interval_ms", LOCK_RENEWAL_MS),
        )

    @classmethod
    def widest(cls, windows: Iterable[Self]) -> Self:
        """Return the longest times of several releases: those of a group whose members differ."""
        first, *others = windows
        for each in others:
            rules = replace(
                first.rules,
                first_pull_delay_ms=max(first.rules.first_pull_delay_ms, each.rules.first_pull_delay_ms),
                round_min_interval_ms=max(first.rules.round_min_interval_ms, each.rules.round_min_interval_ms),
                pull_failure_delay_ms=max(first.rules.pull_failure_delay_ms, each.rules.pull_failure_delay_ms),
                beats_on_connect=first.rules.beats_on_connect and each.rules.beats_on_connect,
                new_queue_is_locked=first.rules.new_queue_is_locked and each.rules.new_queue_is_locked,
                refused_lock_delay_ms=min(first.rules.refused_lock_delay_ms, each.rules.refused_lock_delay_ms),
                unlocks_at_once=first.rules.unlocks_at_once and each.rules.unlocks_at_once,
            )
            first = cls(
                rules,
                max(first.heartbeat_ns, each.heartbeat_ns),
                max(first.route_poll_ns, each.route_poll_ns),
                max(first.round_ns, each.round_ns),
                max(first.pull_failure_ns, each.pull_failure_ns),
                max(first.round_min_ns, each.round_min_ns),
                first.is_orderly,
                first.renewal_ns,
            )
        return first

    def after_failed_pull(self, code: int | None) -> int:
        """From a pull that failed to the next one. code: of the broker's answer, None without one."""
        soon_ms = self.rules.broker_flow_control_delay_ms
        return soon_ms * NS_PER_MS if code == FLOW_CONTROL and soon_ms is not None else self.pull_failure_ns

    def first_delivery(self) -> int:
        """
        From a member's taking a queue to its first messages.

        The first pull may come before the heartbeat with the new subscription: it is then refused (code 25) and made again. In order,
        up to 4.9.4, the pull waits for the next renewal of the locks.
        """
        first_ns = self.rules.first_pull_delay_ms * NS_PER_MS + self.pull_failure_ns
        waits_for_renewal = self.is_orderly and not self.rules.new_queue_is_locked
        return first_ns + self.renewal_ns + self.pull_failure_ns if waits_for_renewal else first_ns

    def first_message(self, *, is_refused: bool) -> int:
        """
        From a member's taking a queue, in order with its lock, to its first message.

        is_refused: the heartbeat with the newer subscription was left out, so pulls are refused until the next one. In order, up to
        4.9.4, the pull also waits for the next renewal of the locks.
        """
        if is_refused:
            return self.first_delivery() + self.heartbeat_ns + (LOCK_ASKED_NS if self.is_orderly else 0)
        return self.rules.first_pull_delay_ms * NS_PER_MS

    def lock_of_another(self, *, was_killed: bool = False) -> int:
        """
        From the end of another member's work on a queue to its lock for the next one; 0 if there are no locks.

        Up to 5.1.4 a queue with messages is unlocked 20 s after it was given up. was_killed: nobody unlocks, and the lock runs out.
        A refused lock is asked for again in a round.
        """
        if not self.is_orderly:
            return 0
        again_ms = self.rules.refused_lock_delay_ms
        again_ns = max(again_ms * NS_PER_MS, self.round_min_ns) if again_ms else self.round_ns
        if was_killed:
            return BROKER_LOCK_NS + again_ns
        given_up_ms = GIVE_UP_WAIT_SINCE_5_2_0_MS if self.rules.unlocks_at_once else GIVE_UP_WAIT_MS + UNLOCK_DELAY_MS
        return given_up_ms * NS_PER_MS + again_ns

    def lock_asked_again(self) -> int:
        """From the end of a fault that met questions for locks to the next pull of a queue: a renewal, or a run's own question."""
        return max(self.renewal_ns, LOCK_ASKED_NS) + self.pull_failure_ns

    def lock_of_a_killed_member(self) -> int:
        """From the death of a member to the end of its locks, at the least: it renewed them one period before."""
        return BROKER_LOCK_NS - self.renewal_ns

    def call_outlasts_lock(self) -> int:
        """
        From the beginning of a call to the next member's work on its queue, at the least, if the call has not ended.

        From 5.2.0 a queue whose lock is old is given up beside it; from 5.0.0 on the lock of one that is being given up runs out.
        """
        if self.rules.unlocks_at_once:
            return GIVE_UP_WAIT_SINCE_5_2_0_MS * NS_PER_MS
        return NEVER_NS if self.rules.renews_dropped_queues else self.lock_of_a_killed_member()

    def no_owner_after_a_leave(self, *, is_notified: bool = True) -> int:
        """From a clean leave, or a kill, of a member to the next member's first pull. is_notified: no broker was down."""
        asked_ns = self.round_min_ns + self.rules.first_pull_delay_ms * NS_PER_MS
        return asked_ns if is_notified else asked_ns + self.round_ns

    def no_owner_beside_a_broker_that_is_down(self, queues: int) -> int:
        """From the resume, or in a round meanwhile; queues: of that broker, which the round asks for first."""
        return ASKED_NS + queues * OFFSET_ASKED_NS + self.round_ns + self.no_owner_after_a_leave()

    def no_owner_of_repeated_ids(self) -> int:
        """From the resume of a broker to which a member connected anew meanwhile: it lists the member's id several times."""
        return FORGOTTEN_NS + self.round_ns

    def no_owner_after_a_lost_route(self, *, is_forgotten: bool = False) -> int:
        """
        From the restart of a broker, or the resume of the name server, whose route the client has lost: a poll, then a round.

        is_forgotten: the name server may have dropped a broker, which a restarted one tells at once.
        """
        return self.route_poll_ns + self.round_ns + (REGISTERS_NS if is_forgotten else 0)

    def kept_connection(self, paused_ns: int) -> int:
        """From the resume of a broker, paused for paused_ns, to its queues' messages: it answers the pulls that it holds."""
        if paused_ns < PULL_TIMEOUT_NS:
            return HOLD_NS
        return self.pull_failure_ns + PULL_TIMEOUT_NS + PULL_TIMEOUT_SCAN_NS

    def closed_connection(self) -> int:
        """
        The same, if a request that timed out had closed the connection.

        At the resume the broker drops the member, and refuses its pulls (code 24) until its next heartbeat.
        """
        beaten_ns = RECONNECT_NS if self.rules.beats_on_connect else self.heartbeat_ns
        return beaten_ns + self.pull_failure_ns

    def dead_master(self) -> int:
        """From the restart of a broker that was killed, without a slave to read from, to its queues' messages."""
        return self.closed_connection() + HOLD_NS

    def broker_was_down(self, down_ns: int, *, was_killed: bool, may_have_closed: bool) -> int:
        """From the heal of a queue's broker to its messages, for a member that kept the queue."""
        locked_ns = LOCK_ASKED_NS if self.is_orderly else 0
        if was_killed:
            return self.dead_master() + locked_ns
        kept_ns = self.kept_connection(down_ns)
        return locked_ns + (max(kept_ns, self.closed_connection()) if may_have_closed else kept_ns)
