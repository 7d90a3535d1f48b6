"""The exact sends of a workload, from a seed."""

import hashlib
from collections.abc import Sequence
from random import Random
from typing import TypeVar

from rocketdiff.core.sends.plan import Plan, PlannedSend
from rocketdiff.core.units import NS_PER_S
from rocketdiff.scenario.sending.workload import Workload

Value = TypeVar("Value")

_JITTER = 0.25
"""
Share of a send's time slot within which its due time is random.

Large enough not to synchronise with the faults' round times, small enough for an even rate. The rest of the slot is a
phase drawn once per plan, so that another seed meets a fault at another point of the rotation.
"""

_ARGUMENT_LIMIT = 1_000_000
"""Upper limit of random arguments: almost evenly divisible by every queue count, and short to read."""


def sending_plan(workload: Workload, name: str, seed: int) -> Plan:
    """
    Return sends numbered by due time, assigned to the threads in turn.

    Send k is due within the k-th slot of 1/rate seconds. Random numbers depend on seed and name, so a new scenario
    changes no other plan.
    """
    random = _random(seed, name)
    slot_ns = NS_PER_S / workload.rate_per_s
    phase = random.random()
    sends = tuple(
        PlannedSend(
            send=number,
            thread=number % workload.threads,
            due_ns=int((number + (1 - _JITTER) * phase + _JITTER * random.random()) * slot_ns),
            kind=_in_turn(workload.calls, number),
            argument=_argument(workload, number, random),
            body_bytes=_in_turn(workload.body_bytes, number),
            mode=workload.mode,
            delay_level=_in_turn(workload.delay_levels, number),
            keys=_in_turn(workload.keys, number),
            tags=_in_turn(workload.tags, number),
            properties=workload.properties,
        )
        for number in range(workload.sends)
    )
    return Plan(seed, workload.threads, sends)


def _random(seed: int, name: str) -> Random:
    """Same numbers on every machine and Python release (only ``random()`` is used)."""
    return Random(int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:8]))


def _argument(workload: Workload, number: int, random: Random) -> int:
    if workload.arguments is None:
        return int(random.random() * _ARGUMENT_LIMIT)
    return _in_turn(workload.arguments, number) if workload.arguments else number


def _in_turn(values: Sequence[Value], number: int) -> Value:
    return values[number % len(values)]
