"""One send being judged: its decisions so far, and the first difference."""

from collections.abc import Iterator, Sequence

from rocketdiff.core.records.sending import UNSEEN_ROUTE, Send
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.oracle.interval import wall_ms
from rocketdiff.oracle.producer.difference import (
    agrees,
    ends_alike,
    explained_difference,
    incomplete_difference,
    result_difference,
    route_difference,
)
from rocketdiff.oracle.producer.durations import Allowance, allowance_of, duration_difference, waiting_difference
from rocketdiff.oracle.producer.judgement import Decision, RuleDifference, SendJudgement
from rocketdiff.oracle.producer.states.belief import Belief
from rocketdiff.oracle.producer.states.decision_point import DecisionPoint
from rocketdiff.oracle.producer.states.hidden_state import HiddenState
from rocketdiff.oracle.producer.states.known_calls import KnownCall
from rocketdiff.oracle.producer.states.transition import Transitions
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.attempt import Finish, Step, Try
from rocketmq_reference.rules.producer.direct_send import no_route
from rocketmq_reference.rules.queue_choice.events import Event


class Observation:
    """Filters beliefs by the observations of one send; narrated: collect the rules' events in ``story``."""

    def __init__(self, transitions: Transitions, send: Send, *, narrated: bool = False) -> None:
        self.transitions = transitions
        self.narrated = narrated
        self.story: list[Event] = []
        self.send = send
        self.difference: RuleDifference | None = None
        self.undecided: str | None = None
        self.doubt: RuleDifference | None = None
        self._result_read = False
        self._legal: list[set[Queue]] = [set() for _ in send.attempts]
        self._avoided = [0] * len(send.attempts)
        self._allowed: dict[int, Allowance] = {}
        self._total = 0

    def judged_without_rules(self, witnessed: bool) -> SendJudgement | None:
        """Return the judgement of a send to which the rules need not or cannot be applied, else None."""
        if not witnessed:
            self.difference = result_difference(self.send)
            return self.judgement(None)
        if self._is_half_seen:
            self.undecided = "the witness of the attempts cannot have seen all of them (a refused connection leaves nothing on the wire)"
            return self.judgement(None)
        if self.transitions.meets_step(self.send.start_ns, self.send.end_ns):
            self.undecided = "the wall clock, by which a client may count, was stepped during the call"
            return self.judgement(None)
        if not self.send.attempts and self._lost_its_queues:
            return self.judgement(None)
        versions = self.transitions.versions_of(self.send)
        if versions:
            queues = self.transitions.routes[versions[0]]
            self._total = len(queues)
            return None
        if self.send.attempts:
            self.undecided = "the queues the client knew are not in the trace"
        elif self.send.mode is SendMode.SYNC:
            self.difference = route_difference(self.send, self._ends_without_route())
        return self.judgement(None)

    @property
    def moved_unseen(self) -> bool:
        """True if an unjudged call may have changed the hidden state; a call with a given queue does not."""
        shown = bool(self.send.attempts) or self._is_half_seen
        return self.undecided is not None and self.send.kind is SendKind.PLAIN and shown

    @property
    def _lost_its_queues(self) -> bool:
        """True if the call ended without a route and its list may have been emptied just before."""
        known = (self.transitions.routes.get(version) for version in (self.send.route, self.send.route_after))
        return () in known and any(ends_alike(finish, self.send) for finish in self._ends_without_route())

    @property
    def _is_half_seen(self) -> bool:
        return UNSEEN_ROUTE in (self.send.route, self.send.route_after)

    def observe(self, belief: Belief, point: DecisionPoint) -> list[HiddenState]:
        """Return the states after a decision point; if none is left, record the difference and force the observed step."""
        outcomes = self.filter(belief.states, point)
        if outcomes:
            return outcomes
        self.note_difference(belief, point)
        return self.reopened(belief.states, point)

    def filter(self, states: list[HiddenState], point: DecisionPoint) -> list[HiddenState]:
        """Return the states after a decision point in which the rules do what was observed; record the decision."""
        if self.narrated and point.number == 0:
            for state in states:
                state.collect_story(self.send.thread)
        every = self.transitions.every_outcome(states, point)
        if not point.chooses:
            self._result_read = self._result_read or any(state.result_read for state, _ in every)
            return [state for state, _ in every]
        agreeing = [(state, step) for state, step in every if step is not None and self._agrees(step, point)]
        reading = [
            (state, step)
            for state, step in every
            if isinstance(step, Try) and self.send.thread in state.readings and not self._agrees(step, point)
        ]
        if reading and not agreeing:
            self.doubt = self._difference(every, point)
        agreeing += reading
        survivors = [state for state, _ in agreeing]
        self._note_allowance([step for _, step in agreeing if isinstance(step, Try)], point)
        if point.followed_by is not None and survivors:
            self._note_decision(every, survivors, point)
        self._note_story(survivors)
        return survivors

    def _agrees(self, step: Step, point: DecisionPoint) -> bool:
        return agrees(step, point, causes_reported=self.transitions.causes_reported)

    def note_difference(self, belief: Belief, point: DecisionPoint) -> None:
        """Record why no state explains a decision point; only the send's first such point counts."""
        if not self._is_complete(belief):
            self.undecided = "more hidden states were possible than can be followed"
        if self.difference is not None or self.undecided is not None:
            return
        every = self.transitions.every_outcome(belief.states, point)
        outcomes = [(state, step) for state, step in every if step is not None]
        self._note_story([state for state, _ in outcomes])
        self.difference = self._difference(every, point)
        if point.followed_by is not None:
            self._note_decision(outcomes, [state for state, _ in outcomes], point)

    def note_doubt(self, belief: Belief) -> None:
        """Record that no rewrite of another thread gave the selected element the value that the hook reported."""
        if not self._is_complete(belief):
            self.undecided = "more hidden states were possible than can be followed"
        elif self.difference is None:
            self.difference = self.doubt

    def _difference(self, every: Sequence[tuple[HiddenState, Step | None]], point: DecisionPoint) -> RuleDifference:
        outcomes = [(state, step) for state, step in every if step is not None]
        return explained_difference(
            outcomes, point, self.transitions.routes[self.transitions.versions_of(self.send)[0]]
        )

    def reopened(self, states: list[HiddenState], point: DecisionPoint) -> list[HiddenState]:
        """States after an unexplained decision point. For the state, an end that differs only in its result is a normal end."""
        if point.followed_by is None:
            every = self.transitions.every_outcome(states, point)
            ended = [state for state, step in every if isinstance(step, Finish)]
            if ended:
                return ended
        return self.transitions.every_forced(states, point)

    def as_known(self, after: HiddenState) -> KnownCall:
        return KnownCall(
            after, self._legal, {at: (allowed.lo_ms, allowed.hi_ms) for at, allowed in self._allowed.items()}
        )

    def judgement_of(self, known: KnownCall, belief: Belief) -> SendJudgement:
        self._legal = list(known.legal)
        attempts = self.send.attempts
        for number, (lo_ms, hi_ms) in known.timeouts_ms.items():
            chosen_ns = attempts[number - 1].end_ns if number else self.send.start_ns
            self._allowed[number] = Allowance(lo_ms, hi_ms, chosen_ns)
        return self.judgement(belief)

    def judgement(self, belief: Belief | None) -> SendJudgement:
        is_waited_for = self.send.mode is not SendMode.ASYNC
        further: tuple[RuleDifference, ...] = ()
        if self.difference is None and self.undecided is None and belief is not None and is_waited_for:
            found = tuple(self._explained_yet_wrong(belief))
            self.difference, further = next(iter(found), None), found[1:]
        decisions = tuple(
            Decision(
                attempt=number,
                # Older releases may fall back on a broker that has left the list.
                queues_total=max(self._total, len(legal)),
                queues_legal=len(legal),
                avoided=self._avoided[number],
            )
            for number, legal in enumerate(self._legal)
            if legal
        )
        states = 0 if belief is None else len(belief.states)
        return SendJudgement(
            self.send.send, self.send.thread, decisions, self.difference, states, self.undecided, further
        )

    def _note_allowance(self, tries: list[Try], point: DecisionPoint) -> None:
        for step in tries:
            allowed = self._allowed.setdefault(point.number, allowance_of(step, point.from_ns))
            allowed.widen(step)

    def _explained_yet_wrong(self, belief: Belief) -> Iterator[RuleDifference]:
        """Differences of a send whose every decision point the rules explain."""
        yield from self._unkept_timeouts(belief)
        for find in (waiting_difference, result_difference, incomplete_difference):
            difference = None if find is result_difference and self._result_read else find(self.send)
            if difference is not None:
                yield difference

    def _unkept_timeouts(self, belief: Belief) -> Iterator[RuleDifference]:
        """Attempts that did not keep their timeouts; none if hidden states, and so perhaps other timeouts, were dropped."""
        counts = self.transitions.dialect.client.remoting.budgeted
        found = (
            duration_difference(self.send.attempts[number], allowed, connecting_counts=counts)
            for number, allowed in sorted(self._allowed.items())
            if self._is_complete(belief)
        )
        return (difference for difference in found if difference is not None)

    def _is_complete(self, belief: Belief) -> bool:
        return belief.complete and not self.transitions.left_out

    def _note_decision(
        self, outcomes: Sequence[tuple[HiddenState, Step | None]], survivors: list[HiddenState], point: DecisionPoint
    ) -> None:
        self._legal[point.number].update(step.queue for _, step in outcomes if isinstance(step, Try))
        if self.transitions.settings.send_latency_fault_enable:
            _, now_ms = wall_ms(point.from_ns, point.to_ns)
            for state in survivors:
                brokers = {queue.broker for info in state.infos.values() for queue in info.queues}
                avoided = sum(state.avoids(broker, now_ms) for broker in brokers)
                self._avoided[point.number] = max(self._avoided[point.number], avoided)

    def _note_story(self, states: list[HiddenState]) -> None:
        if self.difference is None and states and states[0].story is not None:
            self.story = states[0].story.copy()

    def _ends_without_route(self) -> list[Finish]:
        by_selector = self.send.kind is SendKind.SELECTOR
        return [
            no_route(
                self.transitions.dialect, name_servers_set=True, name_server_reached=reached, by_selector=by_selector
            )
            for reached in (True, False)
        ]
