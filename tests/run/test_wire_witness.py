"""Which arms have a relay, and what the relay records for a client."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind, SendMode
from rocketdiff.run.case.wire_witness import ArmReport, WireStory, Witness
from rocketdiff.traces.recorder import Recorder
from rocketdiff.traces.run_directory import CaseDirectory
from rocketmq_reference.api.message import Message
from rocketmq_reference.api.producer import Producer
from rocketmq_reference.api.settings import ProducerSettings
from rocketmq_reference.dialects import dialect_of
from tests.reference_impl.fake_broker import FakeCluster
from tests.reference_impl.producers import StartAt
from tests.relay.servers import Servers

ATTEMPTS = (Attempt(0, 0, 0, "broker-a", 0, 0, 9, status="SEND_OK"),)


@dataclass
class Folder:
    """The members of a case directory that a witness uses."""

    path: Path

    def wire_file(self, arm: Arm) -> Path:
        return self.path / f"{arm}-wire"

    def witnessed(self, arm: Arm) -> Recorder:
        return Recorder(self.path / f"{arm}-witnessed")


@pytest.fixture
def servers() -> Iterator[Servers]:
    with FakeCluster.of("a", "b") as fake:
        yield Servers(fake)


def witness_of(servers: Servers, folder: Path, *silent: Arm, is_wanted: bool = False) -> Witness:
    folders = cast("CaseDirectory", Folder(folder))
    return Witness(cast("Cluster", servers), folders, silent, is_wanted=is_wanted)


def send_through(name_servers: tuple[str, ...]) -> Send:
    identity = "run/T/0"
    start_ns = time.monotonic_ns()
    with Producer(name_servers, "G", dialect_of("5.3.3"), ProducerSettings(), tapes=lambda: StartAt(-1)) as producer:
        producer.send(Message("T", identity.encode(), {"rocketdiff.id": identity}))
        return Send(0, 0, start_ns, time.monotonic_ns(), status="SEND_OK")


def test_clients_that_tell_everything_meet_the_cluster_itself(servers: Servers, tmp_path: Path) -> None:
    """Clients that report everything connect directly to the cluster."""
    with witness_of(servers, tmp_path) as witness:
        assert witness.name_servers(Arm.BASELINE) == servers.name_server_addresses
    assert witness.testify(Arm.BASELINE, ArmReport("T", Plan(1, 1, ()), (), (), 3_000)) == WireStory()
    assert list(tmp_path.iterdir()) == []


def test_whoever_wants_the_wire_has_it_beside_what_both_clients_tell(servers: Servers, tmp_path: Path) -> None:
    """With --wire both arms have a relay; unreported attempts are added to the client's own."""
    plan = Plan(1, 1, (PlannedSend(0, 0, 0, SendKind.PLAIN, 0, 64),))
    with witness_of(servers, tmp_path, is_wanted=True) as witness:
        assert len(witness.relays) == 2
        told = {arm: [send_through(witness.name_servers(arm))] for arm in Arm}
    hidden = ArmReport("T", plan, told[Arm.CANDIDATE], (), 3_000)
    assert witness.testify(Arm.BASELINE, ArmReport("T", plan, told[Arm.BASELINE], ATTEMPTS, 3_000)).against == ()
    story = witness.testify(Arm.CANDIDATE, hidden)
    assert story.against == ("send 0: reported nothing, on the wire broker-a queue 0 SEND_OK",)
    assert story.told == "the client, and the wire: 1 attempts; 1 of them not reported by the client"
    (line,) = (tmp_path / "candidate-witnessed").read_text().splitlines()
    assert (json.loads(line)["type"], json.loads(line)["attempt"]) == ("attempt", 0)
    assert not (tmp_path / "baseline-witnessed").exists()


def test_of_a_silent_arm_the_wire_tells_attempts_and_routes(servers: Servers, tmp_path: Path) -> None:
    """If one arm is silent both have a relay, but only the silent arm's records come from the wire."""
    plan = Plan(1, 1, (PlannedSend(0, 0, 0, SendKind.PLAIN, 0, 64),))
    with witness_of(servers, tmp_path, Arm.CANDIDATE) as witness:
        told = {arm: [send_through(witness.name_servers(arm))] for arm in Arm}
    testimony = {arm: witness.testify(arm, ArmReport("T", plan, sends, ATTEMPTS, 3_000)) for arm, sends in told.items()}
    assert testimony == {
        Arm.BASELINE: WireStory("the client, and the wire: 1 attempts"),
        Arm.CANDIDATE: WireStory("the wire: 1 attempts, 1 routes; 0 sends half seen"),
    }
    lines = [json.loads(line) for line in (tmp_path / "candidate-witnessed").read_text().splitlines()]
    assert [line["type"] for line in lines] == ["route", "attempt", "send"]
    assert (lines[1]["status"], lines[2]["route"]) == ("SEND_OK", 1)
    assert not (tmp_path / "baseline-witnessed").exists()


def test_a_client_that_tells_another_story_is_told(servers: Servers, tmp_path: Path) -> None:
    """A client's attempt that differs from the wire is reported."""
    plan = Plan(1, 1, (PlannedSend(0, 0, 0, SendKind.PLAIN, 0, 64),))
    with witness_of(servers, tmp_path, Arm.CANDIDATE) as witness:
        sends = [send_through(witness.name_servers(Arm.BASELINE))]
    lie = (replace(ATTEMPTS[0], queue_id=3),)
    story = witness.testify(Arm.BASELINE, ArmReport("T", plan, sends, lie, 3_000))
    assert story.against == ("send 0: reported broker-a queue 3 SEND_OK, on the wire broker-a queue 0 SEND_OK",)


@pytest.mark.parametrize(
    ("mode", "confuses", "returned", "is_put_down"),
    [
        (SendMode.SYNC, False, "FLUSH_DISK_TIMEOUT", True),
        (SendMode.SYNC, True, "FLUSH_DISK_TIMEOUT", True),
        (SendMode.ASYNC, False, "FLUSH_DISK_TIMEOUT", True),
        (SendMode.ASYNC, True, "FLUSH_DISK_TIMEOUT", False),
        (SendMode.SYNC, False, "SEND_OK", False),
    ],
)
def test_a_status_is_put_down_as_the_wire_saw_it(
    servers: Servers, tmp_path: Path, mode: SendMode, confuses: bool, returned: str, is_put_down: bool
) -> None:
    """
    A status that differs from the wire is corrected, with two exceptions.

    A disagreement remains for async sends of releases that may confuse responses, and where a hook contradicts its call's result.
    """
    plan = Plan(1, 1, (PlannedSend(0, 0, 0, SendKind.PLAIN, 0, 64, mode=mode),))
    with witness_of(servers, tmp_path, Arm.CANDIDATE) as witness:
        sends = [replace(send_through(witness.name_servers(Arm.BASELINE)), status=returned)]
    told = (replace(ATTEMPTS[0], end_ns=time.monotonic_ns(), status="FLUSH_DISK_TIMEOUT"),)
    story = witness.testify(Arm.BASELINE, ArmReport("T", plan, sends, told, 3_000, confuses))
    assert (story.against == ()) is is_put_down
    assert story.told.endswith("1 statuses as the wire saw them") is is_put_down
    file = tmp_path / "baseline-witnessed"
    assert (
        [json.loads(line)["status"] for line in file.read_text().splitlines()] == ["SEND_OK"]
        if is_put_down
        else not file.exists()
    )


def test_an_address_past_the_relay_is_told_of_any_arm(servers: Servers, tmp_path: Path) -> None:
    """An address outside the relay is reported, because attempts there are unseen."""
    servers.fake.name_server.routes["T"]["brokerDatas"][0]["brokerAddrs"]["1"] = "127.0.0.1:9"
    with witness_of(servers, tmp_path, Arm.CANDIDATE) as witness:
        send_through(witness.name_servers(Arm.BASELINE))
    testimony = witness.testify(Arm.BASELINE, ArmReport("T", Plan(1, 1, ()), (), (), 3_000))
    assert set(testimony.unseen) == {"past the relay: 127.0.0.1:9"}
