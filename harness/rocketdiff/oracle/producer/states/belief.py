"""
The belief: the set of hidden states consistent with the trace so far, kept small by merging.

Equal states are merged, and so are states that differ in one interval only, if the two intervals touch. A set still
larger than STATES_KEPT is over-approximated: only more behaviour becomes legal.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rocketdiff.oracle.choices import ChoiceExplorer
from rocketdiff.oracle.producer.states.hidden_state import HiddenState, Key

STATES_KEPT = 128
"""
Upper bound of the belief's size; a step's time is proportional. Random histories of one thread needed at most 40 in
every release.
"""

Box = list[tuple[int, int]]


@dataclass(slots=True)
class Belief:
    """Possible hidden states. complete: no possible state has been dropped."""

    states: list[HiddenState]
    complete: bool = True


def settle_belief(
    states: list[HiddenState], explorer: ChoiceExplorer, now_ms: int, *, complete: bool, kept: int = STATES_KEPT
) -> Belief:
    """Merge states down to ``kept`` at most; now_ms: a time certainly in the past."""
    if len(states) == 1:
        return Belief(states, complete)
    for state in states:
        state.forget_ended_avoidances(now_ms)
    states = _joined(states, explorer, lossless=True)
    if len(states) > kept:
        states = _joined(states, explorer, lossless=False)
    if len(states) > kept:
        for state in states:
            for thread in state.thread_states:
                state.forget_index(thread)
        states = _joined(states, explorer, lossless=False)
    return Belief(states[:kept], complete and len(states) <= kept)


def _joined(states: list[HiddenState], explorer: ChoiceExplorer, *, lossless: bool) -> list[HiddenState]:
    groups: dict[Key, list[tuple[HiddenState, Box]]] = {}
    seen: set[tuple[Key, Key]] = set()
    for state in states:
        key = state.key()
        if key not in seen:
            seen.add(key)
            groups.setdefault(key[0], []).append((state, list(key[1])))  # type: ignore[arg-type]  # bounds, see key()
    kept: list[HiddenState] = []
    for group in groups.values():
        if len(group) == 1:
            kept.append(group[0][0])
            continue
        boxes = [box for _, box in group]
        boxes = _union(boxes) if lossless else [_hull(boxes)]
        for (state, _), box in zip(group, boxes, strict=False):
            state.set_times(box, explorer)
            kept.append(state)
    return kept


def _union(boxes: list[Box]) -> list[Box]:
    """Merge boxes exactly, pair by pair, to a fixpoint."""
    kept: list[Box] = []
    for box in boxes:
        joined = box
        again = True
        while again:
            again = False
            for other in kept:
                union = _join(joined, other)
                if union is not None:
                    kept.remove(other)
                    joined = union
                    again = True
                    break
        kept.append(joined)
    return kept


def _join(one: Box, other: Box) -> Box | None:
    """The union of two boxes if it is a box (one interval differs, or one contains the other), else None."""
    differing = [i for i in range(len(one)) if one[i] != other[i]]
    if len(differing) == 1:
        (i,) = differing
        (lo, hi), (other_lo, other_hi) = one[i], other[i]
        if lo <= other_hi + 1 and other_lo <= hi + 1:
            return [*one[:i], (min(lo, other_lo), max(hi, other_hi)), *one[i + 1 :]]
        return None
    if all(one[i][0] <= other[i][0] and other[i][1] <= one[i][1] for i in differing):
        return one
    if all(other[i][0] <= one[i][0] and one[i][1] <= other[i][1] for i in differing):
        return other
    return None


def _hull(boxes: Sequence[Box]) -> Box:
    return [(min(lo for lo, _ in column), max(hi for _, hi in column)) for column in zip(*boxes, strict=True)]
