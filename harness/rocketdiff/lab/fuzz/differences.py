"""
Compares the answers of many releases' Java classes with the reference's.

The reference answers once for all releases whose dialects are equal at a depth.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import zip_longest
from typing import Protocol

from rocketdiff.simulation.java_host import Finished, Job
from rocketdiff.simulation.script import Depth, Script
from rocketdiff.simulation.script.roles import role_with
from rocketdiff.simulation.virtual import ROLE_DIALECTS, run_reference
from rocketmq_reference.dialects import flatten
from rocketmq_reference.rules.consumer.consumer_rules import ConsumerRules
from rocketmq_reference.rules.dialect import ConsumerDialect, Dialect

AnyDialect = Dialect | ConsumerDialect

_DECIDES_SELECTION = (
    "index.", "select_plain", "select_queue", "fault_table.", "penalties.", "failure_counts_as_ms", "write_queues_",
)  # fmt: skip
_ONLY_REMOTING = ("asynchronous.", "remoting.")
_DECIDES_SEND_LOOP = ("remoting.vip_channel", "remoting.name_server_failure_is_illegal_state")
_DECIDES_ALLOCATION = ("strategies", "machine_room_")
_DECIDES_PROCESS_QUEUE = ("counts_bytes", "resets_bytes", "takes_empty_bodies")
_DECIDES_REBALANCE = {field.name for field in fields(ConsumerRules)}

FAILED, RAISED = "failed: ", "raised "
"""Prefixes of the last line after a failure of the Java host, and of the reference."""


class FuzzHost(Protocol):
    """The used part of the Java host."""

    def finish_all(self, jobs: Iterable[Job]) -> Iterator[Finished]: ...


@dataclass(frozen=True, slots=True)
class SharedDialect:
    """Releases that share a dialect at a depth."""

    dialect: AnyDialect
    releases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FuzzDifference:
    """The first line in which a release and the reference differ; None: that side has no such line."""

    script: str
    release: str
    dialect: str
    line: int
    java: str | None
    reference: str | None


def behaviours(releases: Iterable[str], depth: Depth) -> tuple[SharedDialect, ...]:
    """Group the releases by their dialects at that depth, in the order of first occurrence."""
    found: dict[tuple[tuple[str, str], ...], list[str]] = {}
    dialect_of = ROLE_DIALECTS[role_with(depth)]
    for release in releases:
        found.setdefault(_at_depth(dialect_of(release), depth), []).append(release)
    return tuple(SharedDialect(dialect_of(group[0]), tuple(group)) for group in found.values())


def differences(
    host: FuzzHost, scripts: Iterable[tuple[str, Script]], groups: Sequence[SharedDialect]
) -> Iterator[FuzzDifference]:
    """Yield all differences, at most one per script and release."""
    ahead: deque[tuple[str, Script, SharedDialect]] = deque()

    def jobs() -> Iterator[Job]:
        for name, script in scripts:
            for group in groups:
                ahead.append((name, script, group))
                yield from (Job(release, name, script, trace=True) for release in group.releases)

    finished = host.finish_all(jobs())
    for first in finished:
        name, script, group = ahead.popleft()
        expected = reference_lines(group.dialect, name, script)
        for answer in (first, *(next(finished) for _ in group.releases[1:])):
            if answer.error is not None or answer.lines != expected:
                yield _first_difference(answer, expected, group.dialect)


def reference_lines(dialect: AnyDialect, name: str, script: Script) -> list[str]:
    """Return the reference's answers; an exception becomes the only line, and so a difference."""
    try:
        return run_reference(dialect, name, script, trace=True)
    except Exception as error:  # noqa: BLE001 - a fuzzer exists to find these
        return [f"{RAISED}{type(error).__name__}: {error}"]


def _first_difference(java: Finished, expected: list[str], dialect: AnyDialect) -> FuzzDifference:
    pairs = enumerate(zip_longest(spoken_lines(java), expected))
    number, (ours, theirs) = next((number, pair) for number, pair in pairs if pair[0] != pair[1])
    return FuzzDifference(java.job.name, java.job.release, dialect.name, number, ours, theirs)


def spoken_lines(java: Finished) -> list[str]:
    """Return the Java host's answers; an error becomes the last line."""
    return java.lines if java.error is None else [*java.lines, f"{FAILED}{java.error}"]


def _at_depth(dialect: AnyDialect, depth: Depth) -> tuple[tuple[str, str], ...]:
    """The dialect fields that matter at a depth. A missing field would show as differences between releases."""
    return tuple((name, value) for name, value in flatten(dialect).items() if _decides(name, depth))


def _decides(field: str, depth: Depth) -> bool:
    if depth is Depth.REBALANCE:
        return field in _DECIDES_REBALANCE
    if depth is Depth.PROCESS_QUEUE:
        return field in _DECIDES_PROCESS_QUEUE
    if depth is Depth.ALLOCATION:
        return field.startswith(_DECIDES_ALLOCATION)
    if depth is Depth.SELECTION:
        return field.startswith(_DECIDES_SELECTION)
    return (
        depth in (Depth.REMOTING, Depth.CONSUMER) or field in _DECIDES_SEND_LOOP or not field.startswith(_ONLY_REMOTING)
    )
