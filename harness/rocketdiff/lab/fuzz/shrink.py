"""
Shrinks a script while a predicate holds: delta debugging on the script's JSON.

Parts are dropped, numbers lowered, names simplified. A predicate that raises ``UsageError`` (an invalid candidate) counts as
false. The result is deterministic.
"""

import json
from collections.abc import Callable
from copy import deepcopy

from rocketdiff.core.errors import UsageError
from rocketdiff.lab.fuzz.json_tree import Json, Path, changed, exists, paths, renamed, texts, value_at

Predicate = Callable[[Json], bool]

PLAIN_NAMES = "abcdefgh"


class Shrinker:
    """Evaluates the predicate once per script and keeps the smallest accepted script."""

    def __init__(self, script: Json, holds: Predicate, max_trials: int) -> None:
        self.best = deepcopy(script)
        self.trials_left = max_trials
        self._holds = holds
        self._known = {json.dumps(script)}

    def accepts(self, candidate: Json) -> bool:
        """True if the predicate holds for a new candidate, which then becomes the best."""
        text = json.dumps(candidate)
        if text in self._known or self.trials_left <= 0 or not _has_steps(candidate):
            return False
        self._known.add(text)
        self.trials_left -= 1
        try:
            held = self._holds(deepcopy(candidate))
        except UsageError:
            held = False
        if held:
            self.best = candidate
        return held


def shrink(script: Json, holds: Predicate, *, max_trials: int = 4_000) -> Json:
    """
    Return the smallest script found for which the predicate holds.

    holds: gets a copy that it may change. max_trials: limit of its evaluations. Raises ValueError if it does not hold for
    ``script``.
    """
    if not holds(deepcopy(script)):
        raise ValueError("the predicate does not hold of the script that is to be shrunk")
    shrinker = Shrinker(script, holds, max_trials)
    before = None
    while shrinker.best != before and shrinker.trials_left > 0:
        before = shrinker.best
        _drop_steps(shrinker)
        _drop_brokers(shrinker)
        _drop_parts(shrinker)
        _unroll_timelines(shrinker)
        _lower_numbers(shrinker)
        _simplify_names(shrinker)
    return shrinker.best


def _has_steps(candidate: Json) -> bool:
    steps = candidate.get("steps")
    return isinstance(steps, list) and all(isinstance(step, dict) for step in steps)


def _drop_steps(shrinker: Shrinker) -> None:
    """Drop runs of steps of halving length, from the end, so that steps after the difference go first."""
    length = len(shrinker.best.get("steps", ()))
    while length >= 1:
        end = len(shrinker.best["steps"])
        while end > 0:
            steps = shrinker.best["steps"]
            begin = max(0, end - length)
            shrinker.accepts({**shrinker.best, "steps": steps[:begin] + steps[end:]})
            end = begin
        length //= 2


def _drop_brokers(shrinker: Shrinker) -> None:
    """Drop one broker at a time, with all steps that name it."""
    for broker in sorted(_broker_names(shrinker.best)):
        shrinker.accepts(_without_broker(shrinker.best, broker))


def _drop_parts(shrinker: Shrinker) -> None:
    """Drop entries of lists and mappings, last first, so that the remaining paths stay valid."""
    for path in reversed(list(paths(shrinker.best))):
        if path and exists(shrinker.best, path):
            shrinker.accepts(changed(shrinker.best, path, None, delete=True))


def _unroll_timelines(shrinker: Shrinker) -> None:
    for number, step in enumerate(shrinker.best["steps"]):
        entries = step.get("entries")
        if isinstance(entries, list) and len(entries) == 1 and isinstance(entries[0], dict):
            action = {key: value for key, value in entries[0].get("action", {}).items() if key != "thread"}
            steps = shrinker.best["steps"]
            shrinker.accepts({**shrinker.best, "steps": [*steps[:number], action, *steps[number + 1 :]]})


def _lower_numbers(shrinker: Shrinker) -> None:
    """Lower each number towards zero by bisection, set true to false, and unwrap {"queues": n} and lists of one item."""
    for path in list(paths(shrinker.best)):
        if not exists(shrinker.best, path):
            continue
        value = value_at(shrinker.best, path)
        if value is True:
            shrinker.accepts(changed(shrinker.best, path, False))
        elif isinstance(value, int) and not isinstance(value, bool) and path != ("format",):
            _lower(shrinker, path, value)
        elif isinstance(value, dict) and list(value) == ["queues"]:
            shrinker.accepts(changed(shrinker.best, path, value["queues"]))
        elif isinstance(value, list) and len(value) == 1:
            shrinker.accepts(changed(shrinker.best, path, value[0]))


def _lower(shrinker: Shrinker, path: Path, value: int) -> None:
    """Bisect to a smaller magnitude of the same sign: the smallest one if the predicate is monotonic."""
    sign = -1 if value < 0 else 1
    low, high = -1, abs(value)
    for guess in (0, 1):
        if guess < high and shrinker.accepts(changed(shrinker.best, path, sign * guess)):
            return
        low = guess
    while high - low > 1:
        guess = (low + high) // 2
        if shrinker.accepts(changed(shrinker.best, path, sign * guess)):
            high = guess
        else:
            low = guess


def _simplify_names(shrinker: Shrinker) -> None:
    """Rename brokers to a, b, c … where the order and hash of the names do not matter."""
    for broker in sorted(_broker_names(shrinker.best)):
        taken = _broker_names(shrinker.best)
        for plain in PLAIN_NAMES:
            if plain >= broker and len(broker) == 1:
                break
            if plain not in taken and shrinker.accepts(renamed(shrinker.best, broker, plain)):
                break


def _broker_names(script: Json) -> set[str]:
    names = set(script.get("route") or ())
    for step in script.get("steps", ()):
        names |= set(step.get("route") or ()) if isinstance(step.get("route"), dict) else set()
    return names


def _without_broker(script: Json, broker: str) -> Json:
    candidate = deepcopy(script)
    if isinstance(candidate.get("route"), dict):
        candidate["route"].pop(broker, None)
    kept = []
    for step in candidate["steps"]:
        if isinstance(step.get("route"), dict):
            step["route"].pop(broker, None)
        elif isinstance(step.get("entries"), list):
            step["entries"] = [entry for entry in step["entries"] if broker not in texts(entry)]
        elif broker in texts(step):
            continue
        kept.append(step)
    candidate["steps"] = kept
    return candidate
