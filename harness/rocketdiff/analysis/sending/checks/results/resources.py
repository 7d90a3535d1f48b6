"""
Does a client's process keep threads, files or memory that it no longer needs, is it idle at rest, and does it end?

Read from outside, in samples of ``run.json`` (``resources``). Compared is growth, never a level, which depends on the
language: from the most in calm, when pools and caches are warm, to the least at rest, when all sends and faults are over,
with the other client's growth in the same case. A single case decides, so only what no pool, cache or load explains
diverges: a leak of one thread per send or failed send, not a few threads more.

How a process ends is watched in the first case of a run (``run.case.ends``): whether it does, compared with the other's.

Not seen: what a client gives back before rest; leaks below the spare numbers, which are all leaks of small bodies; a leak
in a child process that has ended. A client that starts with a busy loop is busy at rest as well, and diverges.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

import numpy as np

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.fault_windows import first_fault_ns
from rocketdiff.analysis.sending.checks.context import SendCheck, TableObserver
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Divergence, Example, Measure
from rocketdiff.core.answers.where import NOWHERE
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.signatures import (
    BUSY_AT_REST,
    ENDS_ALONE,
    FILES_GROW,
    MEMORY_GROWS,
    NEVER_ENDS,
    PROCESSOR_GROWS,
    THREADS_GROW,
    Signature,
)
from rocketdiff.core.units import NS_PER_S
from rocketdiff.traces.manifest import ResourceSample
from rocketdiff.traces.schema import TableName

NAME = "resources"

AT_ONCE = "resources.at-once"
"""Tally of the most sends of an arm that were under way at one time: a pool without a limit has a thread for each."""

WARM_UP_NS = 1 * NS_PER_S
"""
Time after the first due send in which pools start and classes load, whatever the faults. In six cases of the quick suite at
load 20 Java's threads rose from 31 to 35 in it, and never afterwards (2026-11-26).
"""

CALM_SHARE = 1 / 3
"""Part of a case without faults that is its calm; a leak goes on in the rest of it."""

SPARE_THREADS = 4
"""
A pool that starts late, at the first failure: Node has four threads for look-ups, Java's Netty client four workers. In 20
cases of faithful Java, C++, Go and Python clients threads grew by one at most (2026-11-26).
"""

SPARE_FILES = 12
"""Four event loops that start late, with three descriptors each (epoll, event, timer)."""

SPARE_BYTES = 256 << 20
"""
The heap that a Java client gets from rocketdiff (``-Xmx256m``), which it may fill with garbage before it collects any.
"""

BUSY = 0.3
"""
Share of a core that threads used, or waited for, in each interval at rest. A thread that spins wants a whole core; one that
sleeps for 100 µs at a time 0.1 to 0.2. Idle Java, C++, Go and Python wanted 0.05 at most in some interval of each of 20 cases.
"""

RAN = 0.1
"""
Share of a core that was really used at rest. Waiting alone is no work: twenty threads that wake for a moment can wait
together for long on a crowded machine. A thread that spins gets a tenth up to a load of ten for each core.
"""

LEAST_INTERVALS = 4
"""Fewer at rest do not tell a loop from the end of some work."""


SPARE_CORES = 0.3
"""
Median share of a core, after the calm, that a client may use more than in its calm. In 15 cases of Java, Go and Python at
loads from 4 to 20 it rose by 0.03 at most, and fell in most: a JVM compiles in the beginning (2026-11-26).
"""

SOON = 0.6
"""
Share of the limit in which the other process must have ended. Java, C++, Go and Python took 0.04 to 3.3 s of 10 s at a load
of 16 on two cores (2026-11-26).
"""

LEAST_AT_WORK = 8
"""Intervals, of half a second or more, for that median: a JVM that was kept from compiling does so in fewer than half of them."""


@dataclass(frozen=True, slots=True)
class _Resource:
    """One kind: how a sample states it, what a divergence is called, and how much more of it is ordinary."""

    signature: Signature
    words: str
    unit: str
    of: Callable[[ResourceSample], int | None]
    spare: int
    divisor: int = 1


THREADS = _Resource(THREADS_GROW, "threads", "count", lambda sample: sample.threads, SPARE_THREADS)
FILES = _Resource(FILES_GROW, "files", "count", lambda sample: sample.files, SPARE_FILES)
MEMORY = _Resource(MEMORY_GROWS, "MiB", "MiB", lambda sample: sample.memory_bytes, SPARE_BYTES, divisor=1 << 20)


class SendsAtOnce(TableObserver):
    """Counts the most sends of each arm that were under way at one time."""

    def finish(self) -> None:
        for arm in Arm:
            sends = self._context.trace.table(TableName.SENDS, arm)
            begins, ends = (np.sort(sends.column(name).to_numpy()) for name in ("start_ns", "end_ns"))
            under_way = np.arange(1, len(begins) + 1) - np.searchsorted(ends, begins, side="right")
            self._collector.count(AT_ONCE, str(arm), "", "sends", n=int(under_way.max(initial=0)))


def evaluate(facts: CaseFacts) -> Evidence:
    """Return evidence with the differences of this case, and what each client's process grew by."""
    samples = {arm: facts.entry.resources.get(arm, ()) for arm in Arm}
    if not any(samples.values()):
        return facts.evidence(NAME, Standing.NOT_APPLICABLE, "no samples of the clients' processes in this run")
    if facts.entry.breaches:
        return facts.evidence(NAME, Standing.DECISIVE)
    unread = next((facts.subjects[arm] for arm in Arm if not _is_read(samples[arm])), None)
    if unread is not None:
        reason = f"the process of {unread} could not be read until every fault was over"
        return facts.evidence(NAME, Standing.INDECISIVE, reason)
    measures, both = tuple(_measures(facts)), "neither process ends after its client was shut down"
    reason = both if all(_left(facts, arm) for arm in Arm) else ""
    evidence = facts.evidence(NAME, Standing.DECISIVE, reason, decisions=len(Arm) * 4, measures=measures)
    busy = tuple(_busy(facts)) or _busier(facts)
    return replace(evidence, divergences=(*_ending(facts), *_growing(facts), *busy))


def _is_read(samples: Sequence[ResourceSample]) -> bool:
    """True if a process was read at the beginning and all the time at rest."""
    at_rest = [sample for sample in samples if sample.is_at_rest]
    return len(at_rest) > LEAST_INTERVALS and all(
        None not in (sample.threads, sample.cpu_ns, sample.memory_bytes, sample.files)
        for sample in (samples[0], *at_rest)
    )


def _measures(facts: CaseFacts) -> Iterator[Measure]:
    for arm in Arm:
        for resource in (THREADS, FILES, MEMORY):
            grown = _grown(facts, arm, resource)
            if grown is not None:
                name = f"{'memory' if resource is MEMORY else resource.words}-grown {arm}"
                yield Measure(name, grown // resource.divisor, resource.unit, 1)
        yield Measure(f"processor-at-rest {arm}", round(100 * _used(_at_rest(facts, arm))), "%", 1)


def _ending(facts: CaseFacts) -> Iterator[Divergence]:
    """Where one process kept running, and the other ended so soon that the machine cannot be why."""
    for arm, other, signature in (
        (Arm.CANDIDATE, Arm.BASELINE, NEVER_ENDS),
        (Arm.BASELINE, Arm.CANDIDATE, ENDS_ALONE),
    ):
        kept, took_ms = facts.entry.measured.get(f"end_ms_{arm}", 0), facts.entry.measured.get(f"end_ms_{other}")
        if _left(facts, arm) and took_ms is not None and not _left(facts, other) and took_ms <= SOON * kept:
            running = (
                f"is still running after {kept / 1000:.1f} s, with {_left(facts, arm)} threads and "
                f"{facts.entry.measured.get(f'connections_left_{arm}', 0)} connections"
            )
            ended = f"ended {took_ms / 1000:.1f} s after it was told to stop"
            expected, observed = (ended, running) if arm is Arm.CANDIDATE else (running, ended)
            yield _divergence(
                facts, signature, 1, f"a process that {expected}, as {facts.subjects[Arm.BASELINE]}'s", observed
            )


def _left(facts: CaseFacts, arm: Arm) -> int | float:
    """Threads of a process that did not end in time; 0 if it did, or if that was not watched."""
    return facts.entry.measured.get(f"threads_left_{arm}", 0)


def _growing(facts: CaseFacts) -> Iterator[Divergence]:
    for resource in (THREADS, FILES, MEMORY):
        grown, ordinary = (_grown(facts, arm, resource) for arm in (Arm.CANDIDATE, Arm.BASELINE))
        if grown is None or ordinary is None:
            continue
        limit = resource.spare + facts.n(AT_ONCE, arm=str(Arm.CANDIDATE)) + 2 * max(0, ordinary)
        if grown > limit:
            more, most = grown // resource.divisor, limit // resource.divisor
            in_all = _amounts(_at_rest(facts, Arm.CANDIDATE), resource)[-1] // resource.divisor
            yield _divergence(
                facts,
                resource.signature,
                1 if resource is MEMORY else more,
                f"at rest at most {most:,} {resource.words} more than {_since(facts)}; {facts.subjects[Arm.BASELINE]} has "
                f"{ordinary // resource.divisor:+,}",
                f"{more:,} {resource.words} more, and {in_all:,} in all",
            )


def _since(facts: CaseFacts) -> str:
    return "before the first fault" if facts.faults else "in the beginning"


def _grown(facts: CaseFacts, arm: Arm, resource: _Resource) -> int | None:
    """From the most in calm to the least at rest; None if it cannot be known."""
    before, left = (_amounts(samples, resource) for samples in (_in_calm(facts, arm), _at_rest(facts, arm)))
    connections = _connections_grown(facts, arm) if resource is FILES else 0
    return None if connections is None else min(left) - max(before) - connections


def _amounts(samples: Sequence[ResourceSample], resource: _Resource) -> list[int]:
    return [amount for sample in samples if (amount := resource.of(sample)) is not None]


def _connections_grown(facts: CaseFacts, arm: Arm) -> int | None:
    """Connections to servers are files too, but ``outcomes`` judges them. None if they could not be read."""
    samples = facts.entry.connections.get(arm, ())
    held = [None if sample.held is None else sum(sample.held.values()) for sample in samples]
    known = [each for each in held if each is not None]
    if len(known) < len(held):
        return None
    return max(known) - known[0] if known else 0


def _in_calm(facts: CaseFacts, arm: Arm) -> list[ResourceSample]:
    """The first sample, and those from before the first fault; without faults, of the first third; a second in any case."""
    first, *others = facts.entry.resources[arm]
    until_ns = _calm_until_ns(facts)
    return [first, *(sample for sample in others if sample.at_ns < until_ns and not sample.is_at_rest)]


def _calm_until_ns(facts: CaseFacts) -> int:
    origin_ns = facts.entry.origin_ns or 0
    calm_ns = first_fault_ns(facts.faults)
    if calm_ns is None:
        calm_ns = origin_ns + round(CALM_SHARE * facts.entry.duration_s * NS_PER_S)
    return max(calm_ns, origin_ns + WARM_UP_NS)


def _at_rest(facts: CaseFacts, arm: Arm) -> list[ResourceSample]:
    return [sample for sample in facts.entry.resources[arm] if sample.is_at_rest]


def _busy(facts: CaseFacts) -> Iterator[Divergence]:
    at_rest = {arm: _at_rest(facts, arm) for arm in Arm}
    if not _is_busy(at_rest[Arm.CANDIDATE]) or _is_busy(at_rest[Arm.BASELINE]):
        return
    used = {arm: f"{100 * _used(samples):.0f} % of a core" for arm, samples in at_rest.items()}
    wanted = min(_wanted(at_rest[Arm.CANDIDATE]))
    lasted_s = (at_rest[Arm.CANDIDATE][-1].at_ns - at_rest[Arm.CANDIDATE][0].at_ns) / NS_PER_S
    yield _divergence(
        facts,
        BUSY_AT_REST,
        1,
        f"an idle process when all sends and faults are over; {facts.subjects[Arm.BASELINE]} uses {used[Arm.BASELINE]}",
        f"{used[Arm.CANDIDATE]} for {lasted_s:.1f} s, and never less than {100 * wanted:.0f} % used or waited for",
    )


def _busier(facts: CaseFacts) -> Iterator[Divergence]:
    grown, ordinary = (_grown_cores(facts, arm) for arm in (Arm.CANDIDATE, Arm.BASELINE))
    if grown is None or ordinary is None:
        return
    limit = SPARE_CORES + 2 * max(0.0, ordinary)
    if grown > limit:
        yield _divergence(
            facts,
            PROCESSOR_GROWS,
            1,
            f"at most {100 * limit:.0f} % of a core more than {_since(facts)}; {facts.subjects[Arm.BASELINE]} uses "
            f"{100 * ordinary:+.0f} %",
            f"{100 * grown:.0f} % of a core more in most of the case",
        )


def _grown_cores(facts: CaseFacts, arm: Arm) -> float | None:
    """Growth of the median share of a core used, from calm to the time between calm and rest; None if not observed."""
    until_ns = _calm_until_ns(facts)
    read = [sample for sample in facts.entry.resources[arm] if sample.cpu_ns is not None and not sample.is_at_rest]
    calm = [_used(pair) for pair in pairwise(read) if pair[1].at_ns < until_ns]
    at_work = [_used(pair) for pair in pairwise(read) if pair[0].at_ns >= until_ns]
    return median(at_work) - median(calm) if calm and len(at_work) >= LEAST_AT_WORK else None


def _is_busy(samples: Sequence[ResourceSample]) -> bool:
    return min(_wanted(samples), default=0.0) >= BUSY and _used(samples) >= RAN


def _wanted(samples: Sequence[ResourceSample]) -> list[float]:
    """By interval, the share of a core that the threads used or waited for."""
    return [later.cores_wanted_since(earlier) for earlier, later in pairwise(samples)]


def _used(samples: Sequence[ResourceSample]) -> float:
    """Share of a core used from the first to the last sample."""
    first, last = samples[0], samples[-1]
    return ((last.cpu_ns or 0) - (first.cpu_ns or 0)) / max(1, last.at_ns - first.at_ns)


def _divergence(facts: CaseFacts, signature: Signature, count: int, expected: str, observed: str) -> Divergence:
    example = Example(NOWHERE, "rest", expected, observed)
    return Divergence(signature.text(), facts.subjects[Arm.CANDIDATE], count, example)


CODE: SendCheck = CheckCode(NAME, observers=(SendsAtOnce,), evaluate=evaluate)
