"""
Scenarios of control cases: sixteen shapes, drawn again for every gate run, so that no two cases are equal.

Timeouts are short and pauses many, because every statistic counts pause episodes: a case of 4 s has as many as a shipped
scenario of 15 s. All three sending modes occur, because a rate says nothing about an untested mode. Every draw comes from
the seed; the run keeps the scenario's text.
"""

from collections.abc import Callable
from random import Random

from rocketdiff.scenario import Scenario, parse

TIMEOUTS_MS = (150, 200, 300)
"""Short enough for many blocked sends per pause. Below 150 ms, a busy machine's own delays come near the timeout."""

FIRST_FAULT_S = 0.8
"""By then both arms have sent to every queue a few times."""

EXACT = ("queue-choice", "attempts", "error-kind", "duplication", "loss")

Draw = Callable[[Random], str]


def control_scenario(shape: int, seed: int) -> Scenario:
    """The scenario of a shape (modulo their number, or STAND_IN) for a seed. Equal arguments give equal text."""
    name, draw = ("plain-under-pauses", _plain) if shape == STAND_IN else SHAPES[shape % len(SHAPES)]
    text = f"format: 1\nname: control/{name}\n{draw(Random(f'{seed}/{name}'))}"
    return parse(text, f"control scenario {name} of seed {seed}")


def _scenario(
    random: Random,
    sentence: str,
    *,
    faults: str = "",
    settings: str = "",
    workload: str = "",
    checks: tuple[str, ...] = EXACT,
    rates: tuple[int, ...] = (60, 90, 120),
    threads: tuple[int, ...] = (1, 1, 2),
    duration_s: float = 4,
    mode: str = "sync",
) -> str:
    """Fields common to all control scenarios. Differences are passed as YAML."""
    return (
        f"establishes: >\n  {sentence}\n"
        "topology: two-masters\n"
        f"topic: {{queues_per_broker: {random.choice((3, 4, 5))}}}\n"
        f"settings: {{heartbeat_broker_interval_ms: 600000{settings}}}\n"
        f"workload: {{mode: {mode}, threads: {random.choice(threads)}, rate_per_s: {random.choice(rates)},"
        f" duration_s: {duration_s:g}, body_bytes: {random.choice((64, 128, 5000))}{workload}}}\n"
        f"faults: [{faults}]\nchecks: [{', '.join(checks)}]\n"
    )


def _pauses(random: Random, timeout_ms: int, *, brokers: str) -> str:
    """Pauses of one broker (or of all ``brokers`` together) for two to three timeouts, as many as fit into 4 s."""
    repeat = 3 if timeout_ms < 300 else 2
    for_s = round(timeout_ms * random.uniform(2.0, 3.0) / 1_000, 2)
    at_s = round(FIRST_FAULT_S + random.uniform(0, 0.3), 2)
    every_s = round((3.6 - at_s) / repeat, 2)
    return ", ".join(
        f"{{kind: pause, broker: {broker}, at_s: {at_s}, for_s: {for_s}, repeat: {repeat}, every_s: {every_s}}}"
        for broker in brokers
    )


def _rotation(random: Random) -> str:
    timeout_ms = random.choice(TIMEOUTS_MS)
    return _scenario(
        random,
        "Plain rotation runs into a paused broker again and again, one client like the other.",
        settings=f", send_msg_timeout_ms: {timeout_ms}",
        faults=_pauses(random, timeout_ms, brokers=random.choice("ab")),
        checks=(*EXACT, "timing", "failover-time"),
    )


def _avoided(random: Random) -> str:
    timeout_ms = random.choice(TIMEOUTS_MS)
    return _scenario(
        random,
        "A paused broker is avoided by both clients for the same time.",
        settings=f", send_msg_timeout_ms: {timeout_ms}, send_latency_fault_enable: true",
        faults=_pauses(random, timeout_ms, brokers=random.choice("ab")),
        checks=(*EXACT, "avoidance", "timing", "failover-time"),
    )


def _all_paused(random: Random) -> str:
    timeout_ms = random.choice(TIMEOUTS_MS)
    return _scenario(
        random,
        "With every broker paused both clients fall back in the same way.",
        settings=f", send_msg_timeout_ms: {timeout_ms}, send_latency_fault_enable: true",
        faults=_pauses(random, timeout_ms, brokers="ab"),
        checks=(*EXACT, "avoidance", "timing", "failover-time"),
    )


def _overlapping(random: Random) -> str:
    timeout_ms = random.choice(TIMEOUTS_MS)
    first, second = random.sample("ab", 2)
    lasts_s = round(timeout_ms * 4 / 1_000, 2)
    return _scenario(
        random,
        "The second broker is paused while the first still is, for both clients at the same moments.",
        settings=f", send_msg_timeout_ms: {timeout_ms}, send_latency_fault_enable: true",
        faults=f"{{kind: pause, broker: {first}, at_s: 0.9, for_s: {lasts_s}}},"
        f" {{kind: pause, broker: {second}, at_s: {round(0.9 + lasts_s / 2, 2)}, for_s: {lasts_s}}}",
        checks=(*EXACT, "avoidance", "timing", "failover-time"),
    )


def _retries(random: Random) -> str:
    timeout_ms = random.choice(TIMEOUTS_MS)
    return _scenario(
        random,
        "Without retries, or with many, both clients give up at the same point with the same words.",
        settings=f", send_msg_timeout_ms: {timeout_ms}, retry_times_when_send_failed: {random.choice((0, 1, 5, 10))}",
        faults=_pauses(random, timeout_ms, brokers=random.choice("ab")),
        checks=(*EXACT, "timing", "failover-time"),
    )


def _capped(random: Random) -> str:
    return _scenario(
        random,
        "Where a release caps each attempt, both clients retry elsewhere in time and store the message twice.",
        settings=f", send_msg_timeout_ms: 600, send_msg_max_timeout_per_request_ms: {random.choice((150, 200))}",
        faults="{kind: pause, broker: b, at_s: 0.9, for_s: 0.7, repeat: 2, every_s: 1.4}",
        checks=(*EXACT, "timing", "failover-time"),
    )


def _addressed(call: str) -> Draw:
    def draw(random: Random) -> str:
        timeout_ms = random.choice(TIMEOUTS_MS)
        return _scenario(
            random,
            f"A send whose queue is decided ({call}) is never tried elsewhere, in neither client.",
            settings=f", send_msg_timeout_ms: {timeout_ms}, send_latency_fault_enable: {random.choice(('true', 'false'))}",
            faults=_pauses(random, timeout_ms, brokers=random.choice("ab")),
            workload=f", call: {call}, arguments: {random.choice(('ascending', 'random'))}",
            checks=(*EXACT, "timing"),
        )

    return draw


def _chosen(sentence: str, workload: str) -> Draw:
    def draw(random: Random) -> str:
        timeout_ms = random.choice(TIMEOUTS_MS)
        return _scenario(
            random,
            sentence,
            settings=f", send_msg_timeout_ms: {timeout_ms}, send_latency_fault_enable: {random.choice(('true', 'false'))}",
            faults=_pauses(random, timeout_ms, brokers=random.choice("ab")),
            workload=workload,
            checks=(*EXACT, "timing", "failover-time"),
        )

    return draw


_batch = _chosen("A batch of one message goes the way of a single message in both clients.", ", call: batch")
_plain = _chosen("A client that cannot send batches sends single messages, alike in both arms.", "")

STAND_IN = -1
"""Shape for clients that lack a call: every client can send single messages."""


def _slow(random: Random) -> str:
    return _scenario(
        random,
        "Slow successes on either side of a step of the latency table are treated alike by both clients.",
        settings=", send_msg_timeout_ms: 3000, send_latency_fault_enable: true",
        faults=f"{{kind: pause, broker: b, at_s: 0.9, for_s: {random.choice((0.07, 0.3, 0.4))}}},"
        f" {{kind: pause, broker: a, at_s: 1.9, for_s: {random.choice((0.07, 0.3, 0.7))}}}",
        checks=(*EXACT, "content"),
    )


def _asynchronous(random: Random) -> str:
    """One thread, as in all scenarios with asynchronous sends and faults. Only the longer pause outlasts the timeout scan."""
    return _scenario(
        random,
        "Asynchronous sends that meet a paused broker end alike in both clients, and are called back as often.",
        settings=f", send_msg_timeout_ms: {random.choice((300, 500))}",
        faults=f"{{kind: pause, broker: {random.choice('ab')}, at_s: 1, for_s: {random.choice((0.6, 2.6, 2.6))}}}",
        checks=(*EXACT, "callbacks"),
        rates=(50, 100),
        threads=(1,),
        duration_s=5,
        mode="async",
    )


def _one_way(random: Random) -> str:
    """Without `loss`: one-way sends are not acknowledged, so none counts as lost."""
    timeout_ms = random.choice(TIMEOUTS_MS)
    return _scenario(
        random,
        "One-way sends to a paused broker return at once in both clients and are stored when it goes on.",
        settings=f", send_msg_timeout_ms: {timeout_ms}, send_latency_fault_enable: {random.choice(('true', 'false'))}",
        # Longer than a busy machine may delay a call (oracle.producer.durations.WAITED_MS), so a client that waits is detected.
        faults=f"{{kind: pause, broker: {random.choice('ab')}, at_s: {FIRST_FAULT_S}, for_s: {random.uniform(1.6, 2.2):.2f}}}",
        checks=("queue-choice", "attempts", "error-kind", "duplication"),
        threads=(1,),
        mode="oneway",
    )


def _asynchronous_avoided(random: Random) -> str:
    """Without `queue-choice`: the queues cannot be known (``core.sends.knowable``), so a difference there is a false alarm."""
    return _scenario(
        random,
        "Asynchronous sends whose callbacks write the fault table end alike in both clients beside a paused broker.",
        settings=f", send_msg_timeout_ms: {random.choice((300, 500))}, send_latency_fault_enable: true",
        faults=f"{{kind: pause, broker: {random.choice('ab')}, at_s: 1, for_s: {random.choice((0.6, 2.6))}}}",
        checks=("attempts", "error-kind", "duplication", "loss", "callbacks"),
        rates=(50, 100),
        threads=(1, 2, 4),
        duration_s=5,
        mode="async",
    )


def _shared_table(random: Random) -> str:
    timeout_ms = random.choice(TIMEOUTS_MS)
    return _scenario(
        random,
        "Threads that share a fault table avoid a paused broker alike in both clients.",
        settings=f", send_msg_timeout_ms: {timeout_ms}, send_latency_fault_enable: true",
        faults=_pauses(random, timeout_ms, brokers=random.choice(("a", "b", "ab"))),
        checks=(*EXACT, "avoidance"),
        threads=(2, 3, 4),
    )


def _not_waited_for(mode: str, *more: str) -> Draw:
    """Faults other than a pause. The killed broker is not restarted, because its start would take most of the case."""

    def draw(random: Random) -> str:
        broker = random.choice("ab")
        faults = (
            f"{{kind: flow-control, broker: {broker}, at_s: 1, for_s: 1.5}}",
            f"{{kind: kill, broker: {broker}, at_s: 2}}",
        )
        return _scenario(
            random,
            f"Sends that nobody waits for ({mode}) end alike in both clients beside a broker that refuses, or is gone.",
            settings=", send_msg_timeout_ms: 500, poll_name_server_interval_ms: 600000",
            faults=random.choice(faults),
            checks=("queue-choice", "attempts", "error-kind", "duplication", *more),
            threads=(1,),
            mode=mode,
        )

    return draw


SHAPES: tuple[tuple[str, Draw], ...] = (
    ("rotation-under-pauses", _rotation),
    ("avoidance-of-one", _avoided),
    ("all-paused", _all_paused),
    ("overlapping-pauses", _overlapping),
    ("retries-under-pauses", _retries),
    ("capped-attempts", _capped),
    ("queue-under-pauses", _addressed("queue")),
    ("selector-under-pauses", _addressed("selector")),
    ("batch-under-pauses", _batch),
    ("slow-successes", _slow),
    ("async-under-a-pause", _asynchronous),
    ("one-way-under-pauses", _one_way),
    ("async-with-fault-latency", _asynchronous_avoided),
    ("threads-with-fault-latency", _shared_table),
    ("async-beside-other-faults", _not_waited_for("async", "loss", "callbacks")),
    ("one-way-beside-other-faults", _not_waited_for("oneway")),
)
"""In the order of cases in a gate run."""
