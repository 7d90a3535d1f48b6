"""Trials of defective groups of consumers in a suite, whose scenarios are played by the simulated groups of the tests."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from rocketdiff.core.consuming.plan import GroupPlan, ListenerKind, ListenerOutcome, MemberChange, MessageModel
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.tables.fault import FaultKind, FaultSpec
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.topology import TOPOLOGIES
from rocketdiff.scenario import Scenario, load_all, select
from rocketdiff.verdict.defects_found import DefectTrial
from tests.analysis.consuming import bank, orderly_bank
from tests.analysis.consuming.group_story import Group
from tests.analysis.consuming.orderly_group import OrderlyGroup, in_order
from tests.analysis.consuming.simulated_group import NEVER, Fault, Life, Script, SimulatedGroup, simulated

BANK: Mapping[str, type[SimulatedGroup]] = {
    re.sub("(?<!^)(?=[A-Z])", "-", each.group.__name__).lower()
    + ("-in-order" if own is orderly_bank.BANK else ""): each.group
    for own in (bank.BANK, orderly_bank.BANK)
    for each in own
}

BEFORE_MS = 12_000
"""From the joins of the first members to the first message."""

_FAULTS = (FaultKind.PAUSE, FaultKind.KILL)


@cache
def scenarios_of(suite: str) -> tuple[Scenario, ...]:
    return tuple(one for one in select(load_all(), suite) if one.role is ClientRole.CONSUMER)


@cache
def scripts_of(suite: str) -> tuple[tuple[Scenario, Script], ...]:
    """Return the suite's scenarios that can be played, the short ones first."""
    played = ((one, script) for one in scenarios_of(suite) if (script := script_of(one)) is not None)
    return tuple(sorted(played, key=lambda each: each[1].count))


def script_of(scenario: Scenario) -> Script | None:
    """
    Return the script of a scenario; None for broadcasting, a member that joins twice, and faults of other servers.

    A simulated broker has one queue, so without faults each queue stands for a broker. Of the rules of the listener, the one that
    fails most often is played.
    """
    plan = scenario.group
    assert plan is not None
    joins = Counter(event.member for event in plan.membership if event.change is MemberChange.JOIN)
    joins.update(range(plan.members))
    faults = scenario.faults
    if plan.model is MessageModel.BROADCASTING or max(joins.values(), default=0) > 1:
        return None
    if any(fault.kind not in _FAULTS or fault.for_s is None for fault in faults):
        return None
    brokers = TOPOLOGIES[scenario.topology].broker_names
    if not faults:
        brokers = tuple(f"broker-{place:02}" for place in range(len(brokers) * scenario.queues_per_broker))
    script = Script(
        brokers=brokers,
        count=scenario.sends,
        every_ms=round(1_000 / scenario.workload.rate_per_s),
        lives=tuple(_life(scenario, member) for member in range(plan.processes)),
        faults=tuple(_fault(each, brokers) for each in faults),
        most=int(plan.settings.get("max_reconsume_times", 16)),
        drain_ms=28_000,
        threshold=int(plan.settings.get("pull_threshold_for_queue", 1_000)),
        batch=int(plan.settings.get("pull_batch_size", 32)),
        heartbeat_ms=int(plan.settings.get("heartbeat_broker_interval_ms", 30_000)),
        others_every=_others_every(scenario, plan),
        threads=int(plan.settings.get("consume_thread_min", NEVER)),
    )
    return _with_listener(script, plan)


def _others_every(scenario: Scenario, plan: GroupPlan) -> int:
    """Return the period of messages whose tags the group does not subscribe to."""
    others = sum(tag not in plan.tags for tag in scenario.workload.tags) if plan.tags else 0
    return len(scenario.workload.tags) // others if others else NEVER


def _fault(fault: FaultSpec, brokers: Sequence[str]) -> Fault:
    at_ms, for_ms = (round((each or 0) * 1_000) for each in (fault.at_s, fault.for_s))
    return Fault(brokers.index(fault.node), at_ms, for_ms, is_kill=fault.kind is FaultKind.KILL)


def _with_listener(script: Script, plan: GroupPlan) -> Script:
    failing = max(
        (rule for rule in plan.rules if rule.outcome is not ListenerOutcome.SUCCESS),
        key=lambda rule: (rule.tries, -rule.every),
        default=None,
    )
    slow = next((rule for rule in plan.rules if rule.work_ms), None)
    script = replace(script, work_ms=max(1, 2 * plan.work_ms), fails_every=NEVER)  # drawn from none to this
    if slow is not None:
        script = replace(script, slow_every=slow.every)
    if failing is None:
        return script
    return replace(script, fails_every=failing.every, tries=failing.tries, delay_level=failing.delay_level)


def _life(scenario: Scenario, member: int) -> Life:
    assert scenario.group is not None
    own = [event for event in scenario.group.membership if event.member == member]
    joined = next((event for event in own if event.change is MemberChange.JOIN), None)
    ended = next((event for event in own if event.change in (MemberChange.LEAVE, MemberChange.KILL)), None)
    pauses = [event for event in own if event.change is MemberChange.PAUSE]
    return Life(
        member,
        -BEFORE_MS + 100 * member if joined is None else round(joined.at_s * 1_000),
        None if ended is None else round(ended.at_s * 1_000),
        is_killed=ended is not None and ended.change is MemberChange.KILL,
        pauses=tuple((round(each.at_s * 1_000), round((each.for_s or 0) * 1_000)) for each in pauses),
    )


def trials(suite: str, name: str, seeds: Sequence[int]) -> Iterator[DefectTrial]:
    """Yield the trials of one defect, if it changes anything in the scenarios of its kind of listener."""
    defect = BANK[name]
    for seed in seeds:
        changed, is_found = 0, False
        for scenario, script in scripts_of(suite):
            if not is_found and _is_orderly(scenario) == is_orderly(defect):
                seeded = replace(script, seed=seed)
                story = in_order(seeded, defect) if issubclass(defect, OrderlyGroup) else simulated(seeded, defect)
                story.checks = scenario.checks
                own = occasions(
                    story.candidate, _faithful(seeded, OrderlyGroup if is_orderly(defect) else SimulatedGroup)
                )
                changed += own
                is_found = own > 0 and story.judge().judgement.exit_code is ExitCode.DIVERGES
        if changed:
            yield DefectTrial(suite, name, seed, is_found, changed)


@cache
def _faithful(script: Script, group: type[SimulatedGroup]) -> Group:
    """Return the candidate's rows without a defect."""
    return group(script, 1).run()


def occasions(spoilt: Group, faithful: Group) -> int:
    """Return how many rows a defect changes; its faithful twin draws the same random numbers up to the first one."""
    return sum(map(_differing, _tables(spoilt), _tables(faithful)))


def _tables(group: Group) -> tuple[list[dict[str, object]], ...]:
    return (
        group.calls,
        group.deliveries,
        group.offsets,
        group.owned,
        group.allocations,
        group.committed,
        group.returned,
        group.members,
    )


def _differing(own: list[dict[str, object]], other: list[dict[str, object]]) -> int:
    return sum(one != two for one, two in zip(own, other, strict=False)) + abs(len(own) - len(other))


def is_orderly(group: type[SimulatedGroup]) -> bool:
    return issubclass(group, OrderlyGroup)


def _is_orderly(scenario: Scenario) -> bool:
    return scenario.group is not None and scenario.group.listener is ListenerKind.ORDERLY
