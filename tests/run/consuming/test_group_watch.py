"""The questions to brokers about both groups, answered by scripted brokers."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from rocketdiff.cluster.interface import Node
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import IDS_EVERY, CommittedOffset, ListedMembers, TopicKind
from rocketdiff.core.tables.topology import NodeKind
from rocketdiff.run.case.consuming import group_watch
from rocketdiff.run.case.consuming.group_watch import GroupWatch
from rocketdiff.run.case.consuming.names import CaseNames
from rocketdiff.traces.layout import COMMITTED_JOURNAL, LISTED_JOURNAL
from rocketdiff.traces.recorder import Recorder
from rocketmq_reference.remoting.codes import RequestCode
from tests.live import await_that
from tests.reference_impl.consuming_broker import ConsumerBroker
from tests.reference_impl.fake_broker import Silence

NAMES = CaseNames("p", ("broker-a",), 1)
FED = NAMES.fed


class Watched:
    """A watch of one scripted broker, and its journals."""

    def __init__(self, broker: ConsumerBroker, folder: Path) -> None:
        self.folder = folder
        node = Node(NodeKind.BROKER, "a", "broker-a", broker.address, None)
        cluster = SimpleNamespace(brokers=(node,), name_servers=(node,))
        directory = SimpleNamespace(watched=lambda name: Recorder(folder / name))
        self.watch = GroupWatch(cast(Any, cluster), NAMES, cast(Any, directory))

    def committed(self) -> list[CommittedOffset]:
        return [msgspec.json.decode(line, type=CommittedOffset) for line in self._lines(COMMITTED_JOURNAL)]

    def listed(self) -> list[ListedMembers]:
        return [msgspec.json.decode(line, type=ListedMembers) for line in self._lines(LISTED_JOURNAL)]

    def fed(self, arm: Arm = Arm.BASELINE) -> list[tuple[int | None, int | None]]:
        """Committed offset and end of the fed queue, as they changed."""
        return [(each.value, each.end) for each in self.committed() if each.arm is arm and each.kind is TopicKind.FED]

    def _lines(self, name: str) -> list[bytes]:
        return (self.folder / name).read_bytes().splitlines()


@pytest.fixture
def broker() -> Iterator[ConsumerBroker]:
    made = ConsumerBroker("broker-a")
    yield made
    made.close()


@pytest.fixture
def watched(broker: ConsumerBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    monkeypatch.setattr(group_watch, "OFFSETS_EVERY_S", 0.01)
    monkeypatch.setattr(group_watch, "ANSWER_MS", 200)
    return Watched(broker, tmp_path)


def test_only_changes_are_written(broker: ConsumerBroker, watched: Watched) -> None:
    """A round that brought nothing new has no line; the end of a queue and its committed offset are asked together."""
    with watched.watch as watch:
        await_that(lambda: len(watch.committed(Arm.BASELINE)) == 2)
        broker.put(FED, 0, "a", "b")
        await_that(lambda: watched.fed()[-1] == (None, 2))
        assert not watch.has_caught_up(Arm.BASELINE, 0)
        broker.committed[FED, 0] = 2
        await_that(lambda: watch.has_caught_up(Arm.BASELINE, 0))
    assert watched.fed() == [(None, 0), (None, 2), (2, 2)]


def test_nothing_is_owed_behind_the_last_message_of_a_groups_own_tags(broker: ConsumerBroker, watched: Watched) -> None:
    """A broker lets a pull wait where only messages of other tags have come."""
    broker.put(FED, 0, "own", "other", "other")
    broker.committed[FED, 0] = 1
    with watched.watch as watch:
        await_that(lambda: len(watch.committed(Arm.BASELINE)) == 2)
        assert not watch.has_caught_up(Arm.BASELINE, 0)
        assert not watch.has_caught_up(Arm.BASELINE, 0, {("broker-a", 0): 2})
        assert watch.has_caught_up(Arm.BASELINE, 0, {("broker-a", 0): 1})
        assert watch.has_caught_up(Arm.BASELINE, 0, {})


def test_ids_are_written_with_repetitions(broker: ConsumerBroker, watched: Watched) -> None:
    """Both groups are asked for; the answers are kept in the broker's order."""
    broker.ids = ["m0", "m0"]
    with watched.watch as watch:
        await_that(lambda: len(watch.listed(Arm.CANDIDATE)) == 1)
    assert {(each.arm, each.code, each.ids) for each in watched.listed()} == {(arm, 0, ("m0", "m0")) for arm in Arm}


def test_the_last_answer_long_before_a_change_is_written(
    broker: ConsumerBroker, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else nobody knows how long before it was seen the list may have changed."""
    monkeypatch.setattr(group_watch, "FAR_APART_NS", 0)
    broker.ids = ["m0"]
    with watched.watch as watch:
        await_that(lambda: any(each.poll >= 2 * IDS_EVERY for each in watch.listed(Arm.CANDIDATE).values()))
        broker.ids = []
        await_that(lambda: any(each.ids == () for each in watch.listed(Arm.CANDIDATE).values()))
    (_, first), (then, last), (poll, none) = [
        (each.poll, each.ids) for each in watched.listed() if each.arm is Arm.CANDIDATE
    ]
    assert (first, last, none) == (("m0",), ("m0",), ())
    assert then == poll - IDS_EVERY


def test_an_answer_is_written_once(broker: ConsumerBroker, watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that was new itself, if the next one is new again and long after it."""
    monkeypatch.setattr(group_watch, "FAR_APART_NS", 0)
    with watched.watch as watch:
        for number in range(10):
            broker.ids = [f"m{number}"]
            await_that(lambda: any(each.ids == tuple(broker.ids) for each in watch.listed(Arm.CANDIDATE).values()))
    polls = [each.poll for each in watched.listed() if each.arm is Arm.CANDIDATE]
    assert len(set(polls)) == len(polls) >= 10


def test_silence_has_no_value(broker: ConsumerBroker, watched: Watched) -> None:
    """A broker that does not answer is asked no further in this round, and again in the next."""
    broker.refusals[RequestCode.GET_MAX_OFFSET] = Silence()
    with watched.watch as watch:
        await_that(lambda: bool(watch.committed(Arm.BASELINE)))
        broker.refusals.clear()
        await_that(lambda: watch.committed(Arm.CANDIDATE)[-1].end == 0)
    first = watched.committed()[0]
    assert (first.answered_ns, first.value, first.end) == (None, None, None)


def test_the_last_round_is_asked_at_the_end(
    broker: ConsumerBroker, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What members committed while they left is seen, once."""
    monkeypatch.setattr(group_watch, "OFFSETS_EVERY_S", 3_600)
    broker.committed[FED, 0] = 7
    with watched.watch as watch:
        watch.end()
        asked = len(watched.committed())
    assert watched.fed() == [(7, 0)]
    assert len(watched.committed()) == asked
