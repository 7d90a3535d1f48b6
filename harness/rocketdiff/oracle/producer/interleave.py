"""
Threads that share a fault table: every order of their decision points that the times allow.

A decision point of one thread is before one of another only if its window ends before the other's begins. The belief is kept
per *progress* (how many decision points of each thread have happened); all ways to the same progress are joined. A choice is many
reads, and what other threads note may fall between two of them (``DecisionPoint.meanwhile``). A difference is what no order
explains. Where the orders become too many, the sends concerned are undecided, never divergent.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rocketdiff.core.sends.records import NS_PER_MS
from rocketdiff.oracle.producer.judgement import SendJudgement
from rocketdiff.oracle.producer.observation import Observation
from rocketdiff.oracle.producer.states.belief import STATES_KEPT, Belief, settle_belief
from rocketdiff.oracle.producer.states.decision_point import DecisionPoint, decision_points_of
from rocketdiff.oracle.producer.states.hidden_state import HiddenState
from rocketdiff.oracle.producer.states.transition import Transitions

ORDERS_FOLLOWED = 64
"""
Progresses followed at once. Four threads that overlap in both parts of a step have at most 81; more than this means that
the machine stood still for a while, and the trace says nothing about the order.
"""

ORDERS_BEYOND = 4
"""
Progresses followed once one was left out: from then on nothing can be a difference, and what is explained is still told. More
of them would cost minutes where dozens of threads are blocked at once.
"""

STATES_OF_AN_ORDER = 8
"""Hidden states kept of each order, however many orders are followed."""

Progress = tuple[int, ...]
Frontier = dict[Progress, Belief]


class _Lane:
    """One thread: its decision points in order, and the observation each belongs to."""

    __slots__ = ("observations", "points")

    def __init__(self) -> None:
        self.points: list[DecisionPoint] = []
        self.observations: list[Observation] = []

    def add(self, observation: Observation) -> None:
        for point in decision_points_of(observation.send, split=True):
            self.points.append(point)
            self.observations.append(observation)


def judge_interleaved(
    transitions: Transitions, belief: Belief, observations: Sequence[Observation], *, witnessed: bool
) -> Iterator[SendJudgement]:
    """Judgements in the order of the observations, which are in the order of the starts of their sends."""
    unjudged = {id(observation): observation.judged_without_rules(witnessed) for observation in observations}
    threads = sorted({observation.send.thread for observation in observations})
    lanes = {thread: _Lane() for thread in threads}
    for observation in observations:
        if unjudged[id(observation)] is None:
            lanes[observation.send.thread].add(observation)
    unknown_ns = min(
        (observation.send.start_ns for observation in observations if observation.moved_unseen), default=None
    )
    states = _follow(transitions, belief, [lanes[thread] for thread in threads], unknown_ns)
    for observation in observations:
        yield unjudged[id(observation)] or observation.judgement(states[id(observation)])


def _follow(transitions: Transitions, belief: Belief, lanes: list[_Lane], unknown_ns: int | None) -> dict[int, Belief]:
    """
    Take all decision points of all lanes; gives the belief at the end of each observation.

    unknown_ns: from then on an unjudged call may have changed the shared state, so no belief is complete.
    """
    ends: dict[int, Belief] = {}
    frontier: Frontier = {(0,) * len(lanes): belief}
    total = sum(len(lane.points) for lane in lanes)
    for _ in range(total):
        found: dict[Progress, list[HiddenState]] = {}
        complete = all(here.complete for here in frontier.values())
        most = ORDERS_FOLLOWED if complete else ORDERS_BEYOND
        for progress, here in frontier.items():
            enabled = _enabled(lanes, progress, here)
            complete = complete and not _reach(lanes, progress, enabled, unknown_ns)
            for lane in enabled:
                onward = _onward(progress, lane)
                if onward not in found and len(found) >= most:
                    complete = False  # and not gone into: with dozens of threads blocked at once these are thousands
                    continue
                states = _take(transitions, lanes, progress, lane, here, reopen=False)
                if states:
                    found.setdefault(onward, []).extend(states)
        if not found:
            progress, here = next(iter(frontier.items()))
            # Of those that were tried: another may be explained very well.
            lane = _soonest(lanes, progress, _enabled(lanes, progress, here))
            blamed = Belief(here.states, complete)
            found = {_onward(progress, lane): _take(transitions, lanes, progress, lane, blamed, reopen=True)}
        frontier = _settled(transitions, lanes, found, complete)
        _note_ends(lanes, frontier, ends)
    return ends


def _take(
    transitions: Transitions, lanes: list[_Lane], progress: Progress, lane: int, here: Belief, *, reopen: bool
) -> list[HiddenState]:
    observation = lanes[lane].observations[progress[lane]]
    point = _beside_others(lanes, progress, lane)
    if reopen:
        observation.note_difference(here, point)
        states = observation.reopened(here.states, point)
    else:
        states = observation.filter(here.states, point)
    if point.chooses and point.followed_by is None:
        for state in states:
            transitions.end(state, point.send.thread)
    return states


def _beside_others(lanes: list[_Lane], progress: Progress, lane: int) -> DecisionPoint:
    """The next decision point of a lane; if it chooses, with what other threads may do while it does."""
    point = lanes[lane].points[progress[lane]]
    if not point.chooses:
        return point
    meanwhile = tuple(_beside(lanes, progress, lane, point))
    return replace(point, meanwhile=meanwhile) if meanwhile else point


def _beside(lanes: list[_Lane], progress: Progress, lane: int, point: DecisionPoint) -> Iterator[DecisionPoint]:
    """Decision points of other lanes, not taken yet, that may come before the end of this one."""
    for other, rival in enumerate(lanes):
        if other == lane:
            continue
        for number in range(progress[other], len(rival.points)):
            if rival.points[number].from_ns > point.to_ns:
                break
            yield rival.points[number]


def _enabled(lanes: list[_Lane], progress: Progress, here: Belief) -> list[int]:
    """
    Lanes whose next decision point may be the next of all.

    One of them is enough where the orders cannot matter: it only chooses, no broker is avoided, and nothing that might
    come before it can change that.
    """
    pending = [lane for lane in range(len(lanes)) if progress[lane] < len(lanes[lane].points)]
    limit_ns = min(lanes[lane].points[progress[lane]].to_ns for lane in pending)
    enabled = [lane for lane in pending if lanes[lane].points[progress[lane]].from_ns <= limit_ns]
    if len(enabled) > 1:
        for lane in enabled:
            point = lanes[lane].points[progress[lane]]
            if point.settled is None and _is_independent(lanes, progress, lane, point, here):
                return [lane]
    return enabled


def _reach(lanes: list[_Lane], progress: Progress, enabled: list[int], unknown_ns: int | None) -> bool:
    """Whether the next decision point may be as late as ``unknown_ns``."""
    return unknown_ns is not None and any(lanes[lane].points[progress[lane]].to_ns >= unknown_ns for lane in enabled)


def _is_independent(lanes: list[_Lane], progress: Progress, lane: int, point: DecisionPoint, here: Belief) -> bool:
    if any(rival.settled is not None and not rival.is_harmless for rival in _beside(lanes, progress, lane, point)):
        return False
    now_ms = point.from_ns // NS_PER_MS
    return all(state.is_calm(now_ms) for state in here.states)


def _soonest(lanes: list[_Lane], progress: Progress, enabled: list[int]) -> int:
    return min(enabled, key=lambda lane: lanes[lane].points[progress[lane]].to_ns)


def _onward(progress: Progress, lane: int) -> Progress:
    return (*progress[:lane], progress[lane] + 1, *progress[lane + 1 :])


def _settled(
    transitions: Transitions, lanes: list[_Lane], found: dict[Progress, list[HiddenState]], complete: bool
) -> Frontier:
    kept = max(STATES_KEPT // len(found), STATES_OF_AN_ORDER)
    frontier: Frontier = {}
    for progress, states in found.items():
        now_ms = _certainly_past_ms(lanes, progress)
        frontier[progress] = settle_belief(states, transitions.explorer, now_ms, complete=complete, kept=kept)
    return frontier


def _certainly_past_ms(lanes: list[_Lane], progress: Progress) -> int:
    """Every decision point still to come reads its clock after this."""
    pending = [lane for lane in range(len(lanes)) if progress[lane] < len(lanes[lane].points)]
    return min((lanes[lane].points[progress[lane]].from_ns for lane in pending), default=0) // NS_PER_MS


def _note_ends(lanes: list[_Lane], frontier: Frontier, ends: dict[int, Belief]) -> None:
    for progress, here in frontier.items():
        for lane, number in enumerate(progress):
            if number and lanes[lane].points[number - 1].followed_by is None:
                ends.setdefault(id(lanes[lane].observations[number - 1]), here)
