"""
Threads that share a fault table: every order of their moments that the times allow.

A moment of one thread is before one of another only if its window ends before the other's begins. The belief is kept
per *progress* (how many moments of each thread have happened); all ways to the same progress are joined. A difference is
what no order explains. Where the orders become too many, the sends concerned are undecided, never divergent.
"""

from collections.abc import Iterator, Sequence

from rocketdiff.oracle.belief import STATES_KEPT, Belief, settle_belief
from rocketdiff.oracle.decision_point import DecisionPoint, decision_points_of
from rocketdiff.oracle.hidden_state import HiddenState
from rocketdiff.oracle.interval import NANOSECONDS
from rocketdiff.oracle.judgement import SendJudgement
from rocketdiff.oracle.observation import Observation
from rocketdiff.oracle.stepper import Stepper

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

WORLDS_OF_AN_ORDER = 8
"""However many orders are followed, so many worlds are kept of each."""

HARMLESS_MS = 500
"""Attempts chosen and answered within this time earn no avoidance in any release: the lowest penalty is at 550 ms."""

Progress = tuple[int, ...]
Frontier = dict[Progress, Belief]


class _Lane:
    """One thread: its moments in order, and the observation each belongs to."""

    __slots__ = ("moments", "observations")

    def __init__(self) -> None:
        self.moments: list[DecisionPoint] = []
        self.observations: list[Observation] = []

    def add(self, observation: Observation) -> None:
        for moment in decision_points_of(observation.send, split=True):
            self.moments.append(moment)
            self.observations.append(observation)


def judge_interleaved(
    stepper: Stepper, belief: Belief, observations: Sequence[Observation], *, witnessed: bool
) -> Iterator[SendJudgement]:
    """Judgements in the order of the observations, which are in the order of the starts of their sends."""
    unjudged = {id(one): one.judged_without_rules(witnessed) for one in observations}
    threads = sorted({one.send.thread for one in observations})
    lanes = {thread: _Lane() for thread in threads}
    for one in observations:
        if unjudged[id(one)] is None:
            lanes[one.send.thread].add(one)
    unknown_ns = min((one.send.start_ns for one in observations if one.moved_unseen), default=None)
    states = _follow(stepper, belief, [lanes[thread] for thread in threads], unknown_ns)
    for one in observations:
        yield unjudged[id(one)] or one.judgement(states[id(one)])


def _follow(stepper: Stepper, belief: Belief, lanes: list[_Lane], unknown_ns: int | None) -> dict[int, Belief]:
    """
    Take all moments of all lanes; gives the belief at the end of each observation.

    unknown_ns: from then on an unjudged call may have changed the shared state, so no belief is complete.
    """
    ends: dict[int, Belief] = {}
    frontier: Frontier = {(0,) * len(lanes): belief}
    total = sum(len(lane.moments) for lane in lanes)
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
                worlds = _take(stepper, lanes[lane], progress[lane], here, reopen=False)
                if worlds:
                    found.setdefault(onward, []).extend(worlds)
        if not found:
            progress, here = next(iter(frontier.items()))
            lane = _soonest(lanes, progress)
            blamed = Belief(here.worlds, complete)
            found = {_onward(progress, lane): _take(stepper, lanes[lane], progress[lane], blamed, reopen=True)}
        frontier = _settled(stepper, lanes, found, complete)
        _note_ends(lanes, frontier, ends)
    return ends


def _take(stepper: Stepper, lane: _Lane, number: int, here: Belief, *, reopen: bool) -> list[HiddenState]:
    moment, observation = lane.moments[number], lane.observations[number]
    if reopen:
        observation.note_difference(here, moment)
        worlds = observation.reopened(here.worlds, moment)
    else:
        worlds = observation.filter(here.worlds, moment)
    if moment.chooses and moment.followed_by is None:
        for world in worlds:
            stepper.end(world, moment.send.thread)
    return worlds


def _enabled(lanes: list[_Lane], progress: Progress, here: Belief) -> list[int]:
    """
    Lanes whose next moment may be the next of all.

    One of them is enough where the orders cannot matter: it only chooses, no broker is avoided, and nothing that might
    come before it can change that.
    """
    pending = [lane for lane in range(len(lanes)) if progress[lane] < len(lanes[lane].moments)]
    limit_ns = min(lanes[lane].moments[progress[lane]].to_ns for lane in pending)
    enabled = [lane for lane in pending if lanes[lane].moments[progress[lane]].from_ns <= limit_ns]
    if len(enabled) > 1:
        for lane in enabled:
            moment = lanes[lane].moments[progress[lane]]
            if moment.settled is None and _is_independent(lanes, progress, lane, moment, here):
                return [lane]
    return enabled


def _reach(lanes: list[_Lane], progress: Progress, enabled: list[int], unknown_ns: int | None) -> bool:
    """Whether a moment that may be next may be as late as that."""
    return unknown_ns is not None and any(lanes[lane].moments[progress[lane]].to_ns >= unknown_ns for lane in enabled)


def _is_independent(lanes: list[_Lane], progress: Progress, lane: int, moment: DecisionPoint, here: Belief) -> bool:
    for other in range(len(lanes)):
        if other == lane:
            continue
        rivals = lanes[other].moments
        number = progress[other]
        while number < len(rivals) and rivals[number].from_ns <= moment.to_ns:
            if rivals[number].settled is not None and not _is_harmless(rivals[number]):
                return False
            number += 1
    now_ms = moment.from_ns // NANOSECONDS
    return all(world.is_calm(now_ms) for world in here.worlds)


def _is_harmless(moment: DecisionPoint) -> bool:
    if moment.settled is None or moment.settled.error is not None:
        return False
    before = moment.number - 2
    chosen_after_ns = moment.send.attempts[before].end_ns if before >= 0 else moment.send.start_ns
    return moment.to_ns - chosen_after_ns < HARMLESS_MS * NANOSECONDS


def _soonest(lanes: list[_Lane], progress: Progress) -> int:
    pending = [lane for lane in range(len(lanes)) if progress[lane] < len(lanes[lane].moments)]
    return min(pending, key=lambda lane: lanes[lane].moments[progress[lane]].to_ns)


def _onward(progress: Progress, lane: int) -> Progress:
    return (*progress[:lane], progress[lane] + 1, *progress[lane + 1 :])


def _settled(
    stepper: Stepper, lanes: list[_Lane], found: dict[Progress, list[HiddenState]], complete: bool
) -> Frontier:
    kept = max(STATES_KEPT // len(found), WORLDS_OF_AN_ORDER)
    frontier: Frontier = {}
    for progress, worlds in found.items():
        now_ms = _certainly_past_ms(lanes, progress)
        frontier[progress] = settle_belief(worlds, stepper.explorer, now_ms, complete=complete, kept=kept)
    return frontier


def _certainly_past_ms(lanes: list[_Lane], progress: Progress) -> int:
    """Every moment still to come reads its clock after this."""
    pending = [lane for lane in range(len(lanes)) if progress[lane] < len(lanes[lane].moments)]
    return min((lanes[lane].moments[progress[lane]].from_ns for lane in pending), default=0) // NANOSECONDS


def _note_ends(lanes: list[_Lane], frontier: Frontier, ends: dict[int, Belief]) -> None:
    for progress, here in frontier.items():
        for lane, number in enumerate(progress):
            if number and lanes[lane].moments[number - 1].followed_by is None:
                ends.setdefault(id(lanes[lane].observations[number - 1]), here)
