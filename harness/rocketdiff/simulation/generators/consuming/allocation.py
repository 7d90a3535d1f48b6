"""Random scripts at depth allocation: groups of up to twelve ids, repetitions included, and up to forty queues."""

from typing import Any

from rocketdiff.simulation.generators.random_source import RandomSource
from rocketdiff.simulation.generators.topics import broker_names, random_route

_PLAIN = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")
STRATEGIES = (*_PLAIN, *_PLAIN, "CONFIG", "MACHINE_ROOM", "MACHINE_ROOM_NEARBY", "MACHINE_ROOM_NEARBY")
_ROOMS = ("room", "Room", "a", "b", "r@m")

_FAMILIES = (
    tuple(f"c{number}" for number in range(1, 13)),
    ("10.0.0.1@7", "10.0.0.10@7", "10.0.0.2@7", "10.0.0.2@70", "10.0.0.2@8#9", "10.0.0.2@8", "room@1", "Room@1"),
    ("room@1", "room@10", "room@2", "Room@1", "a@1", "a@2", "b@1", "a@@"),
    ("A", "a", "B", "b", "_", "~", "-", "é", "\U0001f600", "\uffee", "a ", "aa"),
)
"""Java sorts ids by UTF-16 code unit, so the last two swap places."""

_STRANGER = "not-listed"

Step = dict[str, Any]


def allocation_script(rng: RandomSource) -> dict[str, Any]:
    """Generate 20 to 60 allocations to groups that change beside routes that change."""
    names, family = broker_names(rng, most=8), rng.pick(_FAMILIES)
    if rng.chance(0.5):
        names = [f"{rng.pick(_ROOMS)}@{name}" if rng.chance(0.9) else name for name in names]
    route = random_route(rng, names)
    steps: list[Step] = []
    for _ in range(rng.between(4, 10)):
        ids = _ids(rng, family)
        steps += [_allocate(rng, ids, family) for _ in range(rng.between(3, 8))]
        if rng.chance(0.5):
            steps.append({"do": "route", "route": _other_route(rng, names)})
    return {"route": route, "steps": steps}


def _ids(rng: RandomSource, family: tuple[str, ...]) -> list[str]:
    """Some ids in any order; a broker lists an id once for each of its connections."""
    if rng.chance(0.04):
        return []
    ids = rng.some(family, rng.between(1, len(family)))
    if rng.chance(0.4):
        ids += [rng.pick(ids) for _ in range(rng.between(1, 6))]
    return rng.some(ids, len(ids))


def _other_route(rng: RandomSource, names: list[str]) -> dict[str, Any] | None:
    if rng.chance(0.1):
        return None
    some = rng.some(names, rng.between(1, len(names)))
    return dict.fromkeys(some, 0) if rng.chance(0.1) else random_route(rng, some)


def _allocate(rng: RandomSource, ids: list[str], family: tuple[str, ...]) -> Step:
    kind = rng.weighted({"listed": 86, "of the family": 8, "stranger": 4, "empty": 2})
    own = {"of the family": rng.pick(family), "stranger": _STRANGER, "empty": ""}.get(kind)
    if own is None:
        own = rng.pick(ids or family)
    strategy = rng.pick(STRATEGIES)
    return {"do": "allocate", "strategy": strategy, "ids": ids, "own": own, **_fields_of(rng, strategy)}


def _fields_of(rng: RandomSource, strategy: str) -> dict[str, Any]:
    """Draw what a strategy is told besides; sometimes nothing."""
    if rng.chance(0.1):
        return {}
    if strategy == "CONFIG":
        count = rng.between(0, 3)
        return {"queues": [{"broker": rng.pick(_ROOMS), "queue_id": rng.between(0, 9)} for _ in range(count)]}
    if strategy == "MACHINE_ROOM":
        return {"rooms": rng.some(_ROOMS, rng.between(0, len(_ROOMS)))}
    return {"within": rng.pick(_PLAIN)} if strategy == "MACHINE_ROOM_NEARBY" else {}
