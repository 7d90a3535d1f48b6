"""Defective clients of the bank that meet a broker which died and came back at another address."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rocketdiff.core.records.sending import RouteSeen
from rocketdiff.core.sends.plan import Plan
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.subjects.reported_defects import DefectKind
from tests.analysis.sending.bank_acting import act_instead
from tests.analysis.sending.bank_spoils import SEED, Defect, Spoil
from tests.analysis.stories import BESIDE_A_PAUSE, HEALTHY, PAUSED
from tests.analysis.synthetic import MS, ORIGIN_NS, ArmRecords, Brokers, Pause, Story, play
from tests.analysis.synthetic_modes import ModeStory

DIED_MS, POLLING_MS = 1_000, 4_000
NEVER_MS = 1_000_000

Lists = Mapping[int, tuple[str, ...]]
"""The brokers in a client's publish list from a time in ms on."""


@dataclass(frozen=True)
class _Part(ModeStory):
    """The sends due in a part of a story, with the brokers that the client knows then."""

    from_ms: int = 0
    until_ms: int = NEVER_MS

    def plan(self) -> Plan:
        whole = super().plan()
        due = (send for send in whole.sends if self.from_ms * MS <= send.due_ns < self.until_ms * MS)
        return replace(whole, sends=tuple(due))


class _Moved(Brokers):
    """The broker refuses this client from its death until the client knows its new address."""

    def __init__(self, story: Story, learnt_ms: int) -> None:
        super().__init__(story)
        self._learnt_ns = ORIGIN_NS + learnt_ms * MS

    def refuses(self, broker: str, now_ns: int) -> bool:
        return broker == PAUSED and ORIGIN_NS + DIED_MS * MS <= now_ns < self._learnt_ns


def met(story: ModeStory, seed: int, learnt_ms: int, lists: Lists) -> ArmRecords:
    """Play a client that knows the new address from learnt_ms on; each list begins with new counters."""
    records, brokers = ArmRecords(), _Moved(story, learnt_ms)
    ends_ms = [*list(lists)[1:], NEVER_MS]
    for number, ((from_ms, names), until_ms) in enumerate(zip(lists.items(), ends_ms, strict=True), start=1):
        fields = {name: getattr(story, name) for name in ModeStory.__dataclass_fields__}
        part = _Part(**{**fields, "brokers": names}, from_ms=from_ms, until_ms=until_ms)
        played = play(part, "5.3.3", seed + number, brokers)
        records.attempts += played.attempts
        records.sends += [replace(send, route=number, route_after=number) for send in played.sends]
        records.routes.append(RouteSeen(number, ORIGIN_NS + from_ms * MS - MS, part.queues))
    records.stored = brokers.stored
    return records


BOTH, ONE = (HEALTHY, PAUSED), (HEALTHY,)


@dataclass(frozen=True)
class MovedStory(ModeStory):
    """A broker dies and comes back; a faithful client knows its address at its next poll. lists: of a faithful client."""

    learnt_ms: int = 0
    lists: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def play(self, release: str, seed: int) -> ArmRecords:
        """release: 5.3.3, the only one of these stories."""
        assert release == "5.3.3"
        records = met(self, seed, self.learnt_ms, dict(self.lists))
        records.stored = [self.carried(message) for message in records.stored]
        return records


def _story(name: str, *, back_ms: int, learnt_ms: int, lists: Lists) -> MovedStory:
    return MovedStory(
        name=name,
        settings=replace(BESIDE_A_PAUSE.settings, poll_name_server_interval_ms=POLLING_MS),
        pauses=(Pause(PAUSED, DIED_MS, back_ms - DIED_MS, FaultKind.MOVE),),
        sends=600,
        every_ms=20,
        checks=("queue-choice", "attempts", "duplication", "loss", "outcomes"),
        learnt_ms=learnt_ms,
        lists=tuple(lists.items()),
    )


BETWEEN_POLLS = _story("route/broker-moved-between-polls", back_ms=1_500, learnt_ms=5_200, lists={0: BOTH, 5_200: BOTH})
"""The broker is back before the poll, which changes nothing but its address."""

MISSED_BY_A_POLL = _story(
    "route/broker-moved", back_ms=3_500, learnt_ms=5_200, lists={0: BOTH, 1_200: ONE, 5_200: BOTH}
)
"""A poll drops the dead broker, and the next finds it."""


def _acting(learnt_ms: int, lists: Lists) -> Spoil:
    def spoil(records: ArmRecords, story: ModeStory) -> None:
        act_instead(records, met(story, SEED, learnt_ms, lists), story)

    return spoil


def _defect(sentence: str, story: MovedStory, check: str, learnt_ms: int, lists: Lists) -> Defect:
    return Defect(DefectKind.OUTCOME, sentence, (check,), story, _acting(learnt_ms, lists))


MOVED: Mapping[str, Defect] = {
    "keeps-an-address": _defect(
        "keeps a broker's address for ever", BETWEEN_POLLS, "outcomes", NEVER_MS, {0: BOTH, 5_200: BOTH}
    ),
    "keeps-an-address-of-a-dropped-broker": _defect(
        "lists a returned broker, but goes to its old address",
        MISSED_BY_A_POLL,
        "outcomes",
        NEVER_MS,
        {0: BOTH, 1_200: ONE, 5_200: BOTH},
    ),
    "drops-a-broker": _defect(
        "never takes back a broker that a poll has dropped",
        MISSED_BY_A_POLL,
        "queue-choice",
        NEVER_MS,
        {0: BOTH, 1_200: ONE},
    ),
    "learns-an-address-late": _defect(
        "learns a broker's new address at the second poll",
        BETWEEN_POLLS,
        "outcomes",
        9_200,
        {0: BOTH, 5_200: BOTH, 9_200: BOTH},
    ),
}
