"""
The runs of a record, their planted regressions, and the expected answer of `record regressions`, from the plan alone.

Each server has two campaigns: *nights* of one candidate, and five *releases* of another, night by night. Each has two
regressions in different checks; a third check differs always, or by chance at a constant rate, which is no regression.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from maintenance.planted.defects import ASYNC, CALM, DEFECTS, PAUSED, Defect
from maintenance.planted.replicas import Replica

SERVERS = (
    *("4.4.0", "4.5.2", "4.6.1", "4.7.1", "4.8.0", "4.9.0", "4.9.1", "4.9.2", "4.9.3", "4.9.4"),
    *("4.9.5", "4.9.7", "4.9.8", "5.0.0", "5.1.0", "5.1.4", "5.2.0", "5.3.1", "5.3.3", "5.4.0"),
)
BASELINE = "java:4.7.1"
NIGHTLY = "python:5.3.3"
RELEASES = ("java:4.9.7", "java:5.0.0", "java:5.1.4", "java:5.3.3", "java:5.5.0")

FIRST_NIGHT_MS = 1_767_225_600_000
"""2026-01-01T00:00 UTC."""

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS

EVERY = 5
"""A change in rate shows in every fifth run before or after it."""

RARE = 0.3
"""Rate of a difference by chance; the first run has it, since a later first occurrence would be new."""

PAUSED_EVERY = 50
"""Every so many runs of a line also have a pause, in which the candidate differs."""

ASYNC_EVERY = 4
"""On every so many servers the nights also have asynchronous sends, whose judging takes three times as long."""


class Shape(StrEnum):
    """How often a defect shows before and after its place."""

    NEW = "new"
    ONCE = "new, in one run"
    GONE = "gone"
    MORE = "more often"
    LESS = "less often"
    ALWAYS = "always"
    BY_CHANCE = "by chance"


STATE_OF = {
    Shape.NEW: "new",
    Shape.ONCE: "new",
    Shape.GONE: "gone",
    Shape.MORE: "changed-in-rate",
    Shape.LESS: "changed-in-rate",
}
"""Terms of `record regressions`; other shapes are no regression."""

OVER_TIME = (Shape.NEW, Shape.GONE, Shape.MORE, Shape.LESS, Shape.ONCE)
OVER_RELEASES = (Shape.NEW, Shape.GONE, Shape.MORE)


@dataclass(frozen=True)
class Planted:
    """A defect in some runs of a line; place: the first run after the change."""

    defect: Defect
    shape: Shape
    place: int

    def shows_in(self, run: int, draw: Random) -> bool:
        """True if the run at this place shows the defect."""
        after = run >= self.place
        return {
            Shape.NEW: after,
            Shape.ONCE: run == self.place,
            Shape.GONE: not after,
            Shape.MORE: after or run % EVERY == 0,
            Shape.LESS: not after or (run - self.place) % EVERY == EVERY - 1,
            Shape.ALWAYS: True,
            Shape.BY_CHANCE: run == 0 or draw.random() < RARE,
        }[self.shape]


@dataclass(frozen=True)
class Line:
    """
    Runs of two clients on one server as (candidate, night); scenarios: of each run; is_paused: some runs have a pause too.
    """

    name: str
    over: str
    server: str
    runs: tuple[tuple[str, int], ...]
    planted: tuple[Planted, ...]
    scenarios: tuple[str, ...]
    is_paused: bool = True

    def replicas(self) -> Iterator[tuple[Replica, tuple[str, ...]]]:
        """The runs to write, with their scenarios."""
        draw = Random(self.name)
        for number, (candidate, night) in enumerate(self.runs):
            shown = tuple(one.defect for one in self.planted if one.shows_in(number, draw))
            turn = RELEASES.index(candidate) if candidate in RELEASES else 0
            at_ms = FIRST_NIGHT_MS + night * DAY_MS + turn * HOUR_MS
            more = (PAUSED,) if self.is_paused and number % PAUSED_EVERY == 0 else ()
            yield (
                Replica(self.run(number), candidate, self.server, at_ms, draw.randrange(1 << 31), shown),
                self.scenarios + more,
            )

    def run(self, number: int) -> str:
        """As long as the sample's name, which its messages contain."""
        return f"{self.name}-{number:03}".rjust(24, "0")


@dataclass(frozen=True)
class Expected:
    """One row of the answer."""

    line: str
    scenario: str
    check: str
    signature: str
    state: str
    run: str
    before_run: str
    pair: str
    before_pair: str


def schedule(servers: Sequence[str] = SERVERS, nights: int = 50) -> list[Line]:
    """Two lines per server: some nights, or a fifth as many for each of five releases."""
    return [
        line
        for number, server in enumerate(servers)
        for line in (_nightly(number, server, nights), _releases(number, server, nights))
    ]


def expected(lines: Iterable[Line], over: str) -> set[Expected]:
    """The expected answer over ``time`` or ``releases``; a line of one candidate is in both."""
    return {
        _row(line, one, over)
        for line in lines
        if line.over in ("time", over)
        for one in line.planted
        if one.shape in STATE_OF
    }


def _row(line: Line, one: Planted, over: str) -> Expected:
    (candidate, _), (before, _) = line.runs[one.place], line.runs[one.place - 1]
    pair = (
        f"{BASELINE}~{candidate}"
        if over == "time"
        else "~".join(name.partition(":")[0] for name in (BASELINE, candidate))
    )
    return Expected(
        f"{pair} on {line.server}",
        *one.defect.shows,
        STATE_OF[one.shape],
        line.run(one.place),
        line.run(one.place - 1),
        f"{BASELINE}~{candidate}",
        f"{BASELINE}~{before}",
    )


def _nightly(number: int, server: str, nights: int) -> Line:
    draw = Random(f"nights {number}")
    scenarios = (ASYNC, CALM) if number % ASYNC_EVERY == 0 else (CALM,)
    first, second, third = draw.sample([one for one in DEFECTS if one.scenario in scenarios], 3)
    shapes = (OVER_TIME[number % len(OVER_TIME)], OVER_TIME[(number + 2) % len(OVER_TIME)])
    planted = [
        Planted(defect, shape, _night(shape, nights, draw))
        for defect, shape in zip((first, second), shapes, strict=True)
    ]
    runs = tuple((NIGHTLY, night) for night in range(nights))
    return Line(f"night-{number:02}", "time", server, runs, (*planted, _calm(third, number)), scenarios)


def _night(shape: Shape, nights: int, draw: Random) -> int:
    """A place where a change is certain: a rate in the middle third, after a run without the defect."""
    if shape not in (Shape.MORE, Shape.LESS):
        return draw.randrange(1, nights - nights // 10)
    middle = [night for night in range(nights // 3, 2 * nights // 3) if shape is Shape.LESS or night % EVERY != 1]
    return draw.choice(middle)


def _releases(number: int, server: str, nights: int) -> Line:
    draw = Random(f"releases {number}")
    of_one = nights // len(RELEASES)
    first, second, third = draw.sample([one for one in DEFECTS if one.scenario == CALM], 3)
    shapes = (OVER_RELEASES[number % 3], OVER_RELEASES[(number + 1) % 3])
    planted = []
    for defect, shape in zip((first, second), shapes, strict=True):
        edges = range(2, len(RELEASES) - 1) if shape is Shape.MORE else range(1, len(RELEASES))
        planted.append(Planted(defect, shape, of_one * draw.choice(edges)))
    runs = tuple((release, night) for release in RELEASES for night in range(of_one))
    return Line(f"release-{number:02}", "releases", server, runs, (*planted, Planted(third, Shape.ALWAYS, 0)), (CALM,))


def _calm(defect: Defect, number: int) -> Planted:
    return Planted(defect, (Shape.ALWAYS, Shape.BY_CHANCE)[number % 2], 0)
