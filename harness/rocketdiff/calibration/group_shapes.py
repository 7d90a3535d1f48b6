"""
Control cases about consumers: eight shapes of a group, drawn again for every gate run.

A group persists what it finished after 10 s at first, and a round comes at the latest after 20 s: hence 15 s of feed, no less. The
settings are those of the shipped suite, so that a rate holds for it.
"""

from collections.abc import Callable
from random import Random

from rocketdiff.scenario import Scenario, parse

EXACT = ("delivered", "redelivery", "offsets")

Draw = Callable[[Random], str]


def group_scenario(shape: int, seed: int) -> Scenario:
    """The scenario of a shape (modulo their number) for a seed. Equal arguments give equal text."""
    name, draw = GROUP_SHAPES[shape % len(GROUP_SHAPES)]
    text = f"format: 1\nname: control/{name}\n{draw(Random(f'{seed}/{name}'))}"
    return parse(text, f"control scenario {name} of seed {seed}")


def _group(
    random: Random,
    sentence: str,
    *,
    members: int = 1,
    faults: str = "",
    membership: str = "",
    rules: str = "",
    model: str = "clustering",
    properties: str = "",
    checks: tuple[str, ...] = EXACT,
    duration_s: float = 15,
    drain_s: float = 20,
) -> str:
    """Fields common to all shapes. Differences are passed as YAML."""
    return (
        f"establishes: >\n  {sentence}\n"
        "topology: two-masters\n"
        f"topic: {{queues_per_broker: {random.choice((2, 3))}}}\n"
        "settings: {send_msg_timeout_ms: 500, heartbeat_broker_interval_ms: 600000}\n"
        f"workload: {{call: queue, threads: 2, rate_per_s: {random.choice((30, 40, 60))}, duration_s: {duration_s:g},"
        f" body_bytes: {random.choice((64, 128, 5000))}}}\n"
        f"consumers: {{members: {members}, listener: concurrent, model: {model},"
        " settings: {consume_from_where: first, heartbeat_broker_interval_ms: 2000},"
        f" properties: {{{properties}}}, rules: [{rules}], membership: [{membership}], drain_s: {drain_s:g}}}\n"
        f"faults: [{faults}]\nchecks: [{', '.join(checks)}]\n"
    )


WITHOUT_ROUNDS = "rebalance_wait_interval_ms: 600000"
"""No id list falls into a pause, so no connection is opened anew and no id is listed twice."""


def _calm(random: Random) -> str:
    return _group(random, "In calm two groups of one client get every message once.", members=random.choice((1, 2)))


def _pauses(random: Random) -> str:
    """Below the 3 s after which a client gives a heartbeat up and closes the connection."""
    for_s = round(random.uniform(1.0, 2.4), 1)
    return _group(
        random,
        "A broker that is paused twice delays its messages alike for both groups.",
        faults=f"{{kind: pause, broker: {random.choice('ab')}, at_s: 4, for_s: {for_s}, repeat: 2, every_s: 5.5}}",
        properties=WITHOUT_ROUNDS,
    )


def _restart(random: Random) -> str:
    """The kill comes after the first commit, so that the broker may lose one."""
    return _group(
        random,
        "A broker that dies and comes back gives each group its messages, some again.",
        faults=f"{{kind: kill, broker: {random.choice('ab')}, at_s: 12, for_s: {random.choice((2, 4))}}}",
        duration_s=20,
        drain_s=45,
    )


def _joined_and_left(random: Random) -> str:
    members = random.choice((1, 2, 3))
    return _group(
        random,
        "A member that joins and leaves takes its share and gives it back, alike in both groups.",
        members=members,
        membership=f"{{at_s: 4, join: {members}}}, {{at_s: 12, leave: {members}}}",
        checks=(*EXACT, "allocation"),
        duration_s=18,
    )


def _member_killed(random: Random) -> str:
    return _group(
        random,
        "The others take over from a member that dies, alike in both groups.",
        members=random.choice((2, 3)),
        membership=f"{{at_s: {random.choice((5, 11))}, kill: {random.choice((0, 1))}}}",
        checks=(*EXACT, "allocation"),
        duration_s=18,
    )


def _member_paused(random: Random) -> str:
    return _group(
        random,
        "A member that stands still keeps its queues and goes on with them.",
        members=2,
        membership=f"{{at_s: {random.choice((4, 7))}, pause: {random.choice((0, 1))}, for_s: {random.choice((3, 5))}}}",
        checks=(*EXACT, "allocation"),
        duration_s=16,
    )


def _failing_listener(random: Random) -> str:
    outcomes = random.sample(("later", "throw", '"null"'), 2)
    rules = ", ".join(
        f"{{every: {random.choice((7, 10, 15))}, offset: {offset}, tries: 1, outcome: {outcome}, delay_level: 1}}"
        for offset, outcome in enumerate(outcomes)
    )
    return _group(
        random,
        "A message whose listener fails comes back once, after its delay.",
        members=random.choice((1, 2)),
        rules=rules,
        checks=(*EXACT, "retries"),
    )


def _broadcasting(random: Random) -> str:
    return _group(
        random,
        "Every member of a broadcasting group gets every message, also beside a paused broker.",
        members=random.choice((1, 2)),
        model="broadcasting",
        faults=f"{{kind: pause, broker: {random.choice('ab')}, at_s: 5, for_s: 2}}",
        properties=WITHOUT_ROUNDS,
        checks=("delivered", "redelivery"),
        duration_s=10,
        drain_s=10,
    )


GROUP_SHAPES: tuple[tuple[str, Draw], ...] = (
    ("group-in-calm", _calm),
    ("group-under-pauses", _pauses),
    ("group-and-a-restart", _restart),
    ("joined-and-left", _joined_and_left),
    ("member-killed", _member_killed),
    ("member-paused", _member_paused),
    ("failing-listener", _failing_listener),
    ("broadcasting-under-a-pause", _broadcasting),
)
"""In the order of cases in a gate run."""
