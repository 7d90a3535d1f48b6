"""Which arms have a relay, and what the relay records for a client."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest

from rocketdiff.core.arm import BASELINE, CANDIDATE, Member
from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind, SendMode
from rocketdiff.run.case.guards import WireReport
from rocketdiff.run.case.relays import CaseRelays
from rocketdiff.run.case.sending.wire_witness import ClientReport, WireWitness
from rocketdiff.traces.recorder import Recorder
from rocketdiff.traces.run_directory import CaseDirectory
from rocketmq_reference.api.producer import Producer
from rocketmq_reference.api.settings import ProducerSettings
from rocketmq_reference.client.message import Message
from rocketmq_reference.dialects import dialect_of
from tests.reference_impl.fake_broker import FakeCluster
from tests.reference_impl.producers import StartAt
from tests.relay.servers import Servers

ATTEMPTS = (Attempt(0, 0, 0, "broker-a", 0, 0, 9, status="SEND_OK"),)


@dataclass
class Folder:
    """The members of a case directory that a witness uses."""

    path: Path

    def wire_file(self, member: Member) -> Path:
        return self.path / f"{member}-wire"

    def witnessed(self, member: Member) -> Recorder:
        return Recorder(self.path / f"{member}-witnessed")


@pytest.fixture
def servers() -> Iterator[Servers]:
    with FakeCluster.of("a", "b") as fake:
        yield Servers(fake)


def relays_of(servers: Servers, folder: Path, *silent: Member, is_wanted: bool = False) -> CaseRelays:
    folders = cast("CaseDirectory", Folder(folder))
    return CaseRelays(servers, folders, (BASELINE, CANDIDATE), silent, is_wanted=is_wanted)


PLAN = Plan(1, 1, (PlannedSend(0, 0, 0, SendKind.PLAIN, 0, 64),))


def report_of(
    relays: CaseRelays,
    servers: Servers,
    folder: Path,
    member: Member,
    sends: Sequence[Send] = (),
    attempts: Sequence[Attempt] = (),
    plan: Plan = PLAN,
    *,
    confuses: bool = False,
) -> WireReport:
    """The witness's report of a client with these records."""
    witness = WireWitness(servers, cast("CaseDirectory", Folder(folder)), relays)
    return witness.report_of(member, ClientReport("T", plan, sends, attempts, 3_000, confuses))


def send_through(name_servers: tuple[str, ...]) -> Send:
    identity = "run/T/0"
    start_ns = time.monotonic_ns()
    with Producer(name_servers, "G", dialect_of("5.3.3"), ProducerSettings(), tapes=lambda: StartAt(-1)) as producer:
        producer.send(Message("T", identity.encode(), {"rocketdiff.id": identity}))
        return Send(0, 0, start_ns, time.monotonic_ns(), status="SEND_OK")


def test_clients_that_report_everything_have_no_relay(servers: Servers, tmp_path: Path) -> None:
    """Clients that report everything connect directly to the cluster."""
    with relays_of(servers, tmp_path) as relays:
        assert relays.name_servers(BASELINE) == servers.name_server_addresses
    assert report_of(relays, servers, tmp_path, BASELINE) == WireReport()
    assert list(tmp_path.iterdir()) == []


def test_a_wanted_relay_records_what_a_client_did_not_report(servers: Servers, tmp_path: Path) -> None:
    """With --wire both arms have a relay; unreported attempts are added to the client's own."""
    with relays_of(servers, tmp_path, is_wanted=True) as relays:
        assert len(relays.all) == 2
        sent = {member: [send_through(relays.name_servers(member))] for member in (BASELINE, CANDIDATE)}
    assert report_of(relays, servers, tmp_path, BASELINE, sent[BASELINE], ATTEMPTS).against == ()
    report = report_of(relays, servers, tmp_path, CANDIDATE, sent[CANDIDATE])
    assert report.against == ("send 0: reported nothing, on the wire broker-a queue 0 SEND_OK",)
    assert report.witnesses == "the client, and the wire: 1 attempts; 1 of them not reported by the client"
    (line,) = (tmp_path / "candidate-witnessed").read_text().splitlines()
    assert (json.loads(line)["type"], json.loads(line)["attempt"]) == ("attempt", 0)
    assert not (tmp_path / "baseline-witnessed").exists()


def test_records_of_a_silent_client_come_from_the_wire(servers: Servers, tmp_path: Path) -> None:
    """If one arm is silent both have a relay, but only the silent arm's records come from the wire."""
    with relays_of(servers, tmp_path, CANDIDATE) as relays:
        sent = {member: [send_through(relays.name_servers(member))] for member in (BASELINE, CANDIDATE)}
    reports = {member: report_of(relays, servers, tmp_path, member, sends, ATTEMPTS) for member, sends in sent.items()}
    assert reports == {
        BASELINE: WireReport("the client, and the wire: 1 attempts"),
        CANDIDATE: WireReport("the wire: 1 attempts, 1 routes; 0 sends half seen"),
    }
    lines = [json.loads(line) for line in (tmp_path / "candidate-witnessed").read_text().splitlines()]
    assert [line["type"] for line in lines] == ["route", "attempt", "send"]
    assert (lines[1]["status"], lines[2]["route"]) == ("SEND_OK", 1)
    assert not (tmp_path / "baseline-witnessed").exists()


def test_an_attempt_that_differs_from_the_wire_contradicts_the_client(servers: Servers, tmp_path: Path) -> None:
    """A client's attempt that differs from the wire is reported."""
    with relays_of(servers, tmp_path, CANDIDATE) as relays:
        sends = [send_through(relays.name_servers(BASELINE))]
    lie = (replace(ATTEMPTS[0], queue_id=3),)
    report = report_of(relays, servers, tmp_path, BASELINE, sends, lie)
    assert report.against == ("send 0: reported broker-a queue 3 SEND_OK, on the wire broker-a queue 0 SEND_OK",)


@pytest.mark.parametrize(
    ("mode", "confuses", "returned", "is_recorded"),
    [
        (SendMode.SYNC, False, "FLUSH_DISK_TIMEOUT", True),
        (SendMode.SYNC, True, "FLUSH_DISK_TIMEOUT", True),
        (SendMode.ASYNC, False, "FLUSH_DISK_TIMEOUT", True),
        (SendMode.ASYNC, True, "FLUSH_DISK_TIMEOUT", False),
        (SendMode.SYNC, False, "SEND_OK", False),
    ],
)
def test_a_status_is_recorded_as_the_wire_saw_it(
    servers: Servers, tmp_path: Path, mode: SendMode, confuses: bool, returned: str, is_recorded: bool
) -> None:
    """
    A status that differs from the wire is corrected, with two exceptions.

    A disagreement remains for async sends of releases that may confuse responses, and where a hook contradicts its call's result.
    """
    plan = Plan(1, 1, (PlannedSend(0, 0, 0, SendKind.PLAIN, 0, 64, mode=mode),))
    with relays_of(servers, tmp_path, CANDIDATE) as relays:
        sends = [replace(send_through(relays.name_servers(BASELINE)), status=returned)]
    reported = (replace(ATTEMPTS[0], end_ns=time.monotonic_ns(), status="FLUSH_DISK_TIMEOUT"),)
    report = report_of(relays, servers, tmp_path, BASELINE, sends, reported, plan, confuses=confuses)
    assert (report.against == ()) is is_recorded
    assert report.witnesses.endswith("1 statuses as the wire saw them") is is_recorded
    file = tmp_path / "baseline-witnessed"
    assert (
        [json.loads(line)["status"] for line in file.read_text().splitlines()] == ["SEND_OK"]
        if is_recorded
        else not file.exists()
    )


def test_an_address_past_the_relay_is_reported_for_every_client(servers: Servers, tmp_path: Path) -> None:
    """An address outside the relay is reported, because attempts there are unseen."""
    servers.fake.name_server.routes["T"]["brokerDatas"][0]["brokerAddrs"]["1"] = "127.0.0.1:9"
    with relays_of(servers, tmp_path, CANDIDATE) as relays:
        send_through(relays.name_servers(BASELINE))
    reports = report_of(relays, servers, tmp_path, BASELINE)
    assert set(reports.unseen) == {"past the relay: 127.0.0.1:9"}
