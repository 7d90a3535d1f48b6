"""
Benchmark of the simulation: decisions and sends per second, virtual time per real time.

Nothing is asserted, because the machine matters as much as the code. One Java host, one thread; answers are read as they
arrive.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from rich.console import Console
from rich.table import Table

from rocketdiff.lab.fuzz.lockstep import name_of, weight_of
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.releases.programs.java_programs import fetch_simulation
from rocketdiff.simulation.generators import generate
from rocketdiff.simulation.golden.standard import load_standard
from rocketdiff.simulation.java_host import Finished, JavaHost, Job
from rocketdiff.simulation.script import Depth, parse_script
from rocketdiff.simulation.script.model import NamedScript
from rocketdiff.simulation.virtual import run_reference
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client.publish import PublishInfo
from rocketmq_reference.rules.queue_choice.fault_table import FaultTable
from rocketmq_reference.rules.queue_choice.index import ThreadIndex
from rocketmq_reference.rules.queue_choice.selection import Selector, SelectRule
from rocketmq_reference.rules.tape import RandomTape

Result = TypeVar("Result")

RELEASES = ("4.7.1", "4.9.8", "5.1.4", "5.3.3", "5.5.0")
SCRIPTS = {Depth.SELECTION: 400, Depth.SEND_LOOP: 200, Depth.REMOTING: 100}
"""Scripts per depth: about a second each, after a first fifth that warms up the classes."""

LONG_SENDS = 20_000
"""Sends of an untraced script, whose time is nearly all the client's own."""


DECISIONS = 100_000
"""Decisions of the rules alone, without a script: about a third of a second."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """Queues chosen per second by the reference's rules: plain rotation, and avoiding one of two brokers."""

    rotation_per_s: float
    avoiding_per_s: float


@dataclass(frozen=True, slots=True)
class Speed:
    """Decisions (selection) or sends per second, traced. virtual_ratio: virtual seconds per real second."""

    release: str
    depth: Depth
    java_per_s: float
    reference_per_s: float
    virtual_ratio: float


@dataclass(frozen=True, slots=True)
class SimulationFigures:
    """All figures. standard_s: wall time of all releases over the standard scripts."""

    speeds: tuple[Speed, ...]
    long_sends_per_s: dict[str, float]
    decisions: dict[str, Decisions]
    standard_scripts: int
    standard_releases: int
    standard_s: float


def bench_simulation(*, as_json: bool) -> dict[str, Any]:
    """Measure and print the figures, or (as_json) only return them."""
    measured = measure()
    if as_json:
        return asdict(measured)
    for part in (_speeds(measured.speeds), _long_sends(measured.long_sends_per_s), _decisions(measured.decisions)):
        Console(emoji=False).print(part)
    runs = f"{measured.standard_releases} releases × {measured.standard_scripts} standard scripts"
    Console(emoji=False).print(f"{runs}: {measured.standard_s:.1f} s from the start of the host")
    return {}


def measure() -> SimulationFigures:
    """All figures. Downloads happen before."""
    fetch_simulation(client_releases())
    with JavaHost() as host:
        scripts = {depth: _scripts(depth, number) for depth, number in SCRIPTS.items()}
        speeds = [_speed(host, release, depth, some) for depth, some in scripts.items() for release in RELEASES]
    with JavaHost() as host:
        long_sends = {release: _long_sends_per_s(host, release) for release in RELEASES}
    decisions = {release: _decisions_per_s(release) for release in RELEASES}
    standard, releases = load_standard(), client_releases()
    with JavaHost() as host:
        jobs = (Job(release, named.name, named.script) for named in standard for release in releases)
        standard_s, _ = _timed(lambda: host.finish_all(jobs))
    return SimulationFigures(tuple(speeds), long_sends, decisions, len(standard), len(releases), standard_s)


def _scripts(depth: Depth, number: int) -> list[tuple[NamedScript, int]]:
    generated = ((name_of(depth, i), generate(depth, i)) for i in range(number))
    return [(NamedScript(name, parse_script(script, name)), weight_of(script)) for name, script in generated]


def _speed(host: JavaHost, release: str, depth: Depth, scripts: Sequence[tuple[NamedScript, int]]) -> Speed:
    """Speed of one depth, without the first fifth (warm-up)."""
    warm_up, counted = scripts[: len(scripts) // 5], scripts[len(scripts) // 5 :]
    _timed(lambda: host.finish_all(_jobs(release, warm_up)))
    java_s, finished = _timed(lambda: host.finish_all(_jobs(release, counted)))
    weight = sum(weight for _, weight in counted)
    some = counted[:: max(1, len(counted) // 40)]
    dialect = dialect_of(release)
    reference_s, _ = _timed(lambda: (run_reference(dialect, named.name, named.script, trace=True) for named, _ in some))
    return Speed(
        release,
        depth,
        weight / java_s,
        sum(weight for _, weight in some) / reference_s,
        sum(result.virtual_ms for result in finished) / 1_000 / java_s,
    )


def _jobs(release: str, scripts: Iterable[tuple[NamedScript, int]]) -> Iterator[Job]:
    return (Job(release, named.name, named.script, trace=True) for named, _ in scripts)


def _long_sends_per_s(host: JavaHost, release: str) -> float:
    """One thread, two healthy brokers, no trace."""
    data = {"format": 1, "route": {"a": 4, "b": 4}, "steps": [{"do": "send", "mode": "sync", "count": LONG_SENDS}]}
    script = parse_script(data, "long")
    _timed(lambda: host.finish_all([Job(release, "long", script)]))
    seconds, _ = _timed(lambda: host.finish_all([Job(release, "long", script)]))
    return LONG_SENDS / seconds


def _decisions_per_s(release: str) -> Decisions:
    """Two brokers of four queues."""
    dialect = dialect_of(release)
    info = PublishInfo.of([(broker, queue) for broker in ("a", "b") for queue in range(4)])

    def rate(select: SelectRule, avoided: Sequence[str]) -> float:
        faults = FaultTable(dialect.producer.fault_table)
        for broker in avoided:
            faults.update(broker, 5, 600_000, True, 0)
        selector = Selector(
            info, ThreadIndex(dialect.producer.index, 11), faults, ThreadIndex(dialect.producer.index, 1), RandomTape(1)
        )
        began = time.monotonic()
        for _ in range(DECISIONS):
            select(selector, None, False, 100)
        return DECISIONS / (time.monotonic() - began)

    return Decisions(rate(dialect.producer.select_plain, ()), rate(dialect.producer.select_queue, ("a",)))


def _timed(work: Callable[[], Iterable[Result]]) -> tuple[float, list[Result]]:
    began = time.monotonic()
    results = list(work())
    for result in results:
        if isinstance(result, Finished) and result.error is not None:
            raise result.error
    return time.monotonic() - began, results


def _speeds(speeds: Sequence[Speed]) -> Table:
    table = Table(title="random scripts, every step traced; decisions or sends a second")
    for column in ("depth", "release", "Java classes", "reference", "virtual ÷ real time"):
        table.add_column(column, justify="left" if column == "depth" else "right")
    for speed in speeds:
        figures = (f"{speed.java_per_s:,.0f}", f"{speed.reference_per_s:,.0f}", f"{speed.virtual_ratio:,.0f}")
        table.add_row(str(speed.depth), speed.release, *figures)
    return table


def _long_sends(rates: dict[str, float]) -> Table:
    table = Table(title=f"{LONG_SENDS:,} plain synchronous sends in one script, not traced, a second")
    for release in rates:
        table.add_column(release, justify="right")
    table.add_row(*(f"{rate:,.0f}" for rate in rates.values()))
    return table


def _decisions(rates: dict[str, Decisions]) -> Table:
    table = Table(title=f"{DECISIONS:,} queues chosen by the reference's rules alone, a second")
    for column in ("release", "plain rotation", "one of two brokers avoided"):
        table.add_column(column, justify="right")
    for release, decisions in rates.items():
        table.add_row(release, f"{decisions.rotation_per_s:,.0f}", f"{decisions.avoiding_per_s:,.0f}")
    return table
