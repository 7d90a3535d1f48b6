"""
Does every thread start its rotation at a random queue of its own, as the rules require (ThreadLocalIndex of every release)?

Examines the first queue that each thread's client chose, before any fault. Every queue is legal, so starts are counted
over all cases with the most common number of brokers and queues: how many fell on the same queue, broker, queue number,
and on the queue where another thread of the case started. What chance does not explain belongs to the check
``queue-choice``. Asynchronous sends are left out, because the client's own threads choose.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.pairing import pools_by_pair
from rocketdiff.analysis.fault_windows import first_fault_ns
from rocketdiff.analysis.sending.checks.by_rules.index_resets import concentrations as resets
from rocketdiff.analysis.sending.checks.context import CaseContext, CaseObserver
from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.answers.evidence import Concentration, Evidence, Standing
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.signatures import BEGINS_ALIKE

STARTS, TOGETHER = "queue-choice.starts", "queue-choice.starts-together"
"""
Tallies by layout: ``2x4/broker-a/3``, the place of a start; ``2x4``, starts beside another thread's; ``2x4/together``,
those at the same place.
"""

LUCK = 0.001
"""
All starts on one place must be less likely than this, or the comparison is skipped: a run's error budget
(``verdict.counts``).
"""

Layout = tuple[int, int]
"""Number of brokers, and of queues on each."""


class StartPositions(CaseObserver):
    """Counts where each thread of both arms began."""

    def __init__(self, context: CaseContext) -> None:
        super().__init__(context)
        self._layout = _layout(context.trace)
        self._calm_ns = first_fault_ns(context.times.faults)
        self._begun: dict[Arm, dict[int, tuple[str, int] | None]] = {arm: {} for arm in Arm}

    def observe(self, send: AlignedSend) -> None:
        for side in send.sides:
            if side.row is not None and side.thread not in self._begun[side.arm]:
                self._begun[side.arm][side.thread] = self._start(side)

    def finish(self) -> None:
        """Count the starts, and those at the place of the first thread's."""
        if self._layout is None:
            return
        brokers, queues = self._layout
        layout = f"{brokers}x{queues}"
        for arm, begun in self._begun.items():
            places = [place for _, place in sorted(begun.items()) if place is not None]
            for broker, queue in places:
                self._collector.count(STARTS, str(arm), "", f"{layout}/{broker}/{queue}")
            for place in places[1:]:
                self._collector.count(TOGETHER, str(arm), "", layout)
                self._collector.count(TOGETHER, str(arm), "", f"{layout}/together", n=int(place == places[0]))

    def _start(self, side: SendView) -> tuple[str, int] | None:
        row = side.row
        assert row is not None, "asked of sends that returned"
        is_chosen = row.kind in (SendKind.PLAIN, SendKind.BATCH) and row.mode is not SendMode.ASYNC
        is_calm = self._calm_ns is None or row.end_ns < self._calm_ns
        if not (is_chosen and is_calm and row.attempts and row.attempts[0].attempt == 0):
            return None
        return row.attempts[0].broker, row.attempts[0].queue_id


def _layout(trace: CaseTrace) -> Layout | None:
    """Layout of the baseline's first list; None without a list, or if brokers differ in their number of queues."""
    routes = trace.routes(Arm.BASELINE)
    queues = Counter(broker for broker, _ in routes[min(routes)]) if routes else Counter[str]()
    sizes = set(queues.values())
    return (len(queues), sizes.pop()) if len(sizes) == 1 else None


def pooled(cases: Sequence[CaseFacts]) -> tuple[Evidence, ...]:
    """Return where starts and retries fell over all sound cases; empty where too few could show anything."""
    pools = pools_by_pair(cases, lambda _facts: True)
    return tuple(evidence for pair, pool in pools.items() for evidence in _pool(pair, pool))


def _pool(pair: str, pool: Sequence[CaseFacts]) -> Iterator[Evidence]:
    starts = _concentrations(pool) if len(pool) > 1 else ()
    counts = tuple(count for count in (*starts, *resets(pool)) if _could_be_noticed(count))
    if counts:
        yield Evidence(
            runs=tuple(sorted({facts.run for facts in pool})),
            case=f"pooled/starts/{pair}",
            check=BEGINS_ALIKE.check,
            standing=Standing.DECISIVE,
            decisions=max(count.candidate_total for count in counts),
            counts=counts,
        )


def _could_be_noticed(count: Concentration) -> bool:
    return count.places * count.chance**count.candidate_total < LUCK


def _concentrations(pool: Sequence[CaseFacts]) -> Iterator[Concentration]:
    starts = {arm: _starts(pool, arm) for arm in Arm}
    if not starts[Arm.CANDIDATE]:
        return
    layout = max(sorted(starts[Arm.CANDIDATE]), key=lambda name: starts[Arm.CANDIDATE][name].total())
    brokers, queues = (int(part) for part in layout.split("x"))
    levels = {"queue": brokers * queues, "broker": brokers, "number": queues}
    places = {arm: starts[arm].get(layout, Counter()) for arm in Arm}
    for level, many in levels.items():
        fallen = {arm: _of(places[arm], level) for arm in Arm}
        yield _concentration(level, fallen, 1 / many, many)
    beside = {arm: _together(pool, arm, layout) for arm in Arm}
    yield _concentration("threads", beside, 1 / (brokers * queues), 1)


def _concentration(name: str, fallen: Mapping[Arm, Counter[str]], chance: float, places: int) -> Concentration:
    where, most = _most(fallen[Arm.CANDIDATE])
    _, most_of_baseline = _most(fallen[Arm.BASELINE])
    totals = [fallen[arm].total() for arm in (Arm.BASELINE, Arm.CANDIDATE)]
    return Concentration(BEGINS_ALIKE.text(name), where, chance, places, most_of_baseline, totals[0], most, totals[1])


def _starts(pool: Sequence[CaseFacts], arm: Arm) -> dict[str, Counter[str]]:
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for facts in pool:
        for key in facts.keys(STARTS, str(arm)):
            layout, _, place = key.partition("/")
            found[layout][place] += facts.n(STARTS, key, arm=str(arm))
    return found


def _of(places: Counter[str], level: str) -> Counter[str]:
    if level == "queue":
        return places
    fallen: Counter[str] = Counter()
    for place, n in places.items():
        broker, _, queue = place.rpartition("/")
        fallen[broker if level == "broker" else f"queue {queue} of any broker"] += n
    return fallen


def _together(pool: Sequence[CaseFacts], arm: Arm, layout: str) -> Counter[str]:
    met = sum(facts.n(TOGETHER, layout, arm=str(arm)) for facts in pool)
    together = sum(facts.n(TOGETHER, f"{layout}/together", arm=str(arm)) for facts in pool)
    return Counter({TOGETHER_AT: together, "elsewhere": met - together})


TOGETHER_AT = "the place of the first thread of the case"


def _most(fallen: Counter[str]) -> tuple[str, int]:
    """The place of most starts; for threads, the number that started together."""
    if TOGETHER_AT in fallen:
        return TOGETHER_AT, fallen[TOGETHER_AT]
    place = max(fallen, key=fallen.__getitem__, default="")
    return place, fallen[place]
