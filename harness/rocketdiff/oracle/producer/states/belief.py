"""
The set of hidden states that explain everything seen so far, kept small.

States that are equal are one; states that differ in a single interval, where the two touch, are one with the joined
interval, which loses nothing. Only a set that would still be larger than STATES_KEPT is made vaguer, and only ever
towards more legal behaviour.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rocketdiff.oracle.choices import ChoiceExplorer
from rocketdiff.oracle.producer.states.hidden_state import HiddenState, Key

STATES_KEPT = 128
"""
More states than this are not followed: the time of a step is proportional, and random histories of one thread in every
release never had more than 40.
"""

Box = list[tuple[int, int]]


@dataclass(slots=True)
class Belief:
    """States that are possible; complete: none that is possible has been left out."""

    states: list[HiddenState]
    complete: bool = True


def settle_belief(
    states: list[HiddenState], explorer: ChoiceExplorer, now_ms: int, *, complete: bool, kept: int = STATES_KEPT
) -> Belief:
    """Join what can be joined, down to ``kept`` states; now_ms: a time that is certainly past."""
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
    """Boxes with the same points as the given ones, joined pair by pair until nothing fits together any more."""
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
    """The union of two boxes if that is a box: they differ in one interval at most, or one contains the other."""
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
