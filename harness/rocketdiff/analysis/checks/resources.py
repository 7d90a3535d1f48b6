"""
Does a client's process keep threads, files or memory that it no longer needs, is it idle at rest, and does it end?

Read from outside, in samples of ``run.json`` (``resources``). Compared is growth, never a level, which depends on the
language: from the most in calm, when pools and caches are warm, to the least at rest, when all sends and faults are over,
with the other client's growth in the same case. A single case decides, so only what no pool, cache or load explains
diverges: a leak of one thread per send or failed send, not a few threads more.

Of a group each member that is there from beginning to end has a process; the one that grew most is compared with the other
group's. It is at rest when everything is delivered, and holds its pulls.

How a process ends is watched in the first case of a run (``run.case.ends``): whether it does, compared with the other's.

Not seen: what a client gives back before rest; leaks below the spare numbers, which are all leaks of small bodies; a leak
in a child process that has ended. A client that starts with a busy loop is busy at rest as well, and diverges.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.fault_windows import first_fault_ns
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Divergence, Example, Measure
from rocketdiff.core.answers.where import NOWHERE
from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.consuming.plan import MemberChange
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
from rocketdiff.traces.manifest import ConnectionSample, ResourceSample

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

POOL = 20
"""
Threads of a consumer's pool that the scenario does not set. Java starts them one by one, a message each; the reference when it has
no idle one, up to 20 of them beside a killed member (74 control cases at a load of 12: nothing else grew by more than one).
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


@dataclass(frozen=True, slots=True)
class _Client:
    """
    A process of an arm.

    member: empty if it is the only one. pool: threads that it may still start after the calm, to work on what it gets.
    """

    arm: Arm
    member: str
    samples: Sequence[ResourceSample]
    connections: Sequence[ConnectionSample]
    calm_until_ns: int
    pool: int

    @property
    def is_read(self) -> bool:
        """True if it was read at the beginning and all the time at rest."""
        return len(self.at_rest) > LEAST_INTERVALS and all(
            None not in (sample.threads, sample.cpu_ns, sample.memory_bytes, sample.files)
            for sample in (self.samples[0], *self.at_rest)
        )

    @property
    def at_rest(self) -> list[ResourceSample]:
        return [sample for sample in self.samples if sample.is_at_rest]

    @property
    def in_calm(self) -> list[ResourceSample]:
        """The first sample, and those from before the first fault; without faults, of the first third; a second in any case."""
        first, *others = self.samples
        return [first, *(each for each in others if each.at_ns < self.calm_until_ns and not each.is_at_rest)]

    @property
    def words(self) -> str:
        """Appended to what was observed: which of several processes it is."""
        return f" in the process of {self.member}" if self.member else ""

    def grown(self, resource: _Resource) -> int | None:
        """From the most in calm to the least at rest; None if it cannot be known."""
        before, left = (_amounts(samples, resource) for samples in (self.in_calm, self.at_rest))
        connections = self._connections_grown() if resource is FILES else 0
        return None if connections is None else min(left) - max(before) - connections

    def spare(self, resource: _Resource) -> int:
        """Return how much growth is ordinary: a pool may be filled by a fault, so far as the calm has not filled it."""
        if resource is not THREADS:
            return resource.spare
        started = max(_amounts(self.in_calm, THREADS)) - (self.samples[0].threads or 0)
        return resource.spare + max(0, self.pool - started)

    def grown_cores(self) -> float | None:
        """Growth of the median share of a core used, from calm to the time between calm and rest; None if not observed."""
        read = [sample for sample in self.samples if sample.cpu_ns is not None and not sample.is_at_rest]
        calm = [_used(pair) for pair in pairwise(read) if pair[1].at_ns < self.calm_until_ns]
        at_work = [_used(pair) for pair in pairwise(read) if pair[0].at_ns >= self.calm_until_ns]
        return median(at_work) - median(calm) if calm and len(at_work) >= LEAST_AT_WORK else None

    def _connections_grown(self) -> int | None:
        """Connections to servers are files too, but ``outcomes`` judges them. None if they could not be read."""
        held = [None if sample.held is None else sum(sample.held.values()) for sample in self.connections]
        known = [each for each in held if each is not None]
        if len(known) < len(held):
            return None
        return max(known) - known[0] if known else 0


def evaluate(facts: CaseFacts) -> Evidence:
    """Return evidence with the differences of this case, and what each client's process grew by."""
    clients = {arm: _clients(facts, arm) for arm in Arm}
    if not any(facts.entry.resources.values()):
        return facts.evidence(NAME, Standing.NOT_APPLICABLE, "no samples of the clients' processes in this run")
    if not all(clients.values()):
        return facts.evidence(NAME, Standing.NOT_APPLICABLE, "no member is there from the beginning to the end")
    if facts.entry.breaches:
        return facts.evidence(NAME, Standing.DECISIVE)
    unread = next((facts.subjects[each.arm] for arm in Arm for each in clients[arm] if not each.is_read), None)
    if unread is not None:
        reason = f"the process of {unread} could not be read until every fault was over"
        return facts.evidence(NAME, Standing.INDECISIVE, reason)
    measures, both = tuple(_measures(clients)), "neither process ends after its client was shut down"
    reason = both if all(_left(facts, arm) for arm in Arm) else ""
    evidence = facts.evidence(NAME, Standing.DECISIVE, reason, decisions=len(Arm) * 4, measures=measures)
    busy = tuple(_busy(facts, clients)) or _busier(facts, clients)
    return replace(evidence, divergences=(*_ending(facts), *_growing(facts, clients), *busy))


_Clients = Mapping[Arm, Sequence[_Client]]


def _clients(facts: CaseFacts, arm: Arm) -> list[_Client]:
    """The processes of an arm; of a group's those of its own subject that neither come nor go."""
    group, until_ns = facts.entry.groups.get(arm), _calm_until_ns(facts)
    if group is None:
        alone, pool = {str(arm): ""}, 0
    else:
        moving = {event.member for event in group.membership if event.change is not MemberChange.PAUSE}
        staying = [n for n in range(group.members) if n not in moving and group.subject_arm(arm, n) is arm]
        alone = {str(Member(arm, number)): f"member {number}" for number in staying}
        pool = int(group.settings.get("consume_thread_max", POOL))
    resources, connections = facts.entry.resources, facts.entry.connections
    return [
        _Client(arm, member, resources.get(key, ()), connections.get(key, ()), until_ns, pool)
        for key, member in alone.items()
    ]


def _measures(clients: _Clients) -> Iterator[Measure]:
    for arm, own in clients.items():
        for resource in (THREADS, FILES, MEMORY):
            most = _most_grown(own, resource)
            if most is not None:
                name = f"{'memory' if resource is MEMORY else resource.words}-grown {arm}"
                yield Measure(name, most[0] // resource.divisor, resource.unit, 1)
        used = max(_used(each.at_rest) for each in own)
        yield Measure(f"processor-at-rest {arm}", round(100 * used), "%", 1)


def _most_grown(clients: Sequence[_Client], resource: _Resource) -> tuple[int, _Client] | None:
    """The process that grew most beyond what is ordinary, with its growth; None if that of one cannot be known."""
    grown = [(each.grown(resource), each) for each in clients]
    known = [(much, each) for much, each in grown if much is not None]
    if len(known) < len(grown):
        return None
    return max(known, key=lambda one: one[0] - one[1].spare(resource))


def _ending(facts: CaseFacts) -> Iterator[Divergence]:
    """Where one process kept running, and the other ended so soon that the machine cannot be why."""
    for arm, other, signature in (
        (Arm.CANDIDATE, Arm.BASELINE, NEVER_ENDS),
        (Arm.BASELINE, Arm.CANDIDATE, ENDS_ALONE),
    ):
        measured = facts.entry.measured
        took_ms = measured.get(f"end_ms_{other}")
        if not _left(facts, arm) or took_ms is None:
            continue
        kept_ms = measured[f"end_ms_{arm}"]
        if took_ms <= SOON * kept_ms:
            running = (
                f"is still running after {kept_ms / 1000:.1f} s, with {_left(facts, arm)} threads and "
                f"{measured[f'connections_left_{arm}']} connections"
            )
            ended = f"ended {took_ms / 1000:.1f} s after it was told to stop"
            expected, observed = (ended, running) if arm is Arm.CANDIDATE else (running, ended)
            yield _divergence(
                facts, signature, 1, f"a process that {expected}, as {facts.subjects[Arm.BASELINE]}'s", observed
            )


def _left(facts: CaseFacts, arm: Arm) -> int | float:
    """Threads of a process that did not end in time; 0 if it did, or if that was not watched."""
    return facts.entry.measured.get(f"threads_left_{arm}", 0)


def _growing(facts: CaseFacts, clients: _Clients) -> Iterator[Divergence]:
    for resource in (THREADS, FILES, MEMORY):
        own, other = (_most_grown(clients[arm], resource) for arm in (Arm.CANDIDATE, Arm.BASELINE))
        if own is None or other is None:
            continue
        (grown, client), (ordinary, _) = own, other
        limit = client.spare(resource) + facts.n(AT_ONCE, arm=str(Arm.CANDIDATE)) + 2 * max(0, ordinary)
        if grown > limit:
            more, most = grown // resource.divisor, limit // resource.divisor
            in_all = _amounts(client.at_rest, resource)[-1] // resource.divisor
            yield _divergence(
                facts,
                resource.signature,
                1 if resource is MEMORY else more,
                f"at rest at most {most:,} {resource.words} more than {_since(facts)}; {facts.subjects[Arm.BASELINE]} has "
                f"{ordinary // resource.divisor:+,}",
                f"{more:,} {resource.words} more, and {in_all:,} in all{client.words}",
            )


def _since(facts: CaseFacts) -> str:
    return "before the first fault" if facts.faults else "in the beginning"


def _amounts(samples: Sequence[ResourceSample], resource: _Resource) -> list[int]:
    return [amount for sample in samples if (amount := resource.of(sample)) is not None]


def _calm_until_ns(facts: CaseFacts) -> int:
    origin_ns = facts.entry.origin_ns or 0
    calm_ns = first_fault_ns(facts.faults)
    if calm_ns is None:
        calm_ns = origin_ns + round(CALM_SHARE * facts.entry.duration_s * NS_PER_S)
    return max(calm_ns, origin_ns + WARM_UP_NS)


def _busy(facts: CaseFacts, clients: _Clients) -> Iterator[Divergence]:
    spinning = [each for each in clients[Arm.CANDIDATE] if _is_busy(each.at_rest)]
    if not spinning or any(_is_busy(each.at_rest) for each in clients[Arm.BASELINE]):
        return
    at_rest = spinning[0].at_rest
    lasted_s = (at_rest[-1].at_ns - at_rest[0].at_ns) / NS_PER_S
    ordinary = max(_used(each.at_rest) for each in clients[Arm.BASELINE])
    yield _divergence(
        facts,
        BUSY_AT_REST,
        1,
        f"an idle process when everything is done and faults are over; {facts.subjects[Arm.BASELINE]} uses {_percent(ordinary)}",
        f"{_percent(_used(at_rest))} for {lasted_s:.1f} s, and never less than {100 * min(_wanted(at_rest)):.0f} % used or waited for"
        f"{spinning[0].words}",
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} % of a core"


def _busier(facts: CaseFacts, clients: _Clients) -> Iterator[Divergence]:
    grown = {arm: [each.grown_cores() for each in own] for arm, own in clients.items()}
    own, other = ([each for each in grown[arm] if each is not None] for arm in (Arm.CANDIDATE, Arm.BASELINE))
    if len(own) + len(other) < sum(map(len, grown.values())):
        return
    limit = SPARE_CORES + 2 * max(0.0, *other)
    if max(own) > limit:
        client = clients[Arm.CANDIDATE][own.index(max(own))]
        yield _divergence(
            facts,
            PROCESSOR_GROWS,
            1,
            f"at most {100 * limit:.0f} % of a core more than {_since(facts)}; {facts.subjects[Arm.BASELINE]} uses "
            f"{100 * max(other):+.0f} %",
            f"{100 * max(own):.0f} % of a core more in most of the case{client.words}",
        )


def _is_busy(samples: Sequence[ResourceSample]) -> bool:
    return min(_wanted(samples)) >= BUSY and _used(samples) >= RAN


def _wanted(samples: Sequence[ResourceSample]) -> list[float]:
    """By interval, the share of a core that the threads used or waited for."""
    return [later.cores_wanted_since(earlier) for earlier, later in pairwise(samples)]


def _used(samples: Sequence[ResourceSample]) -> float:
    """Share of a core used from the first to the last sample."""
    used_ns = [sample.cpu_ns for sample in samples if sample.cpu_ns is not None]
    return (used_ns[-1] - used_ns[0]) / max(1, samples[-1].at_ns - samples[0].at_ns)


def _divergence(facts: CaseFacts, signature: Signature, count: int, expected: str, observed: str) -> Divergence:
    example = Example(NOWHERE, "rest", expected, observed)
    return Divergence(signature.text(), facts.subjects[Arm.CANDIDATE], count, example)
