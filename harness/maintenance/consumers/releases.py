"""
``python -m maintenance.consumers.releases [RELEASE ...]``: the Java driver's consumer on every release, one after the other.

Each joins alone, gets all messages of a topic, fails the first once, commits all offsets, leaves and ends. Prints a row a release.
"""

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.cluster.access import channels_to
from rocketdiff.cluster.interface import Cluster, security_of
from rocketdiff.cluster.operations import admin
from rocketdiff.cluster.operations.groups import committed_offset
from rocketdiff.cluster.start import start_cluster
from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.consuming.plan import Allocation, ListenerKind, ListenerOutcome, ListenerRule, MessageModel
from rocketdiff.core.errors import HarnessError
from rocketdiff.core.records.consuming import Left, Received
from rocketdiff.core.sends.message import ID_PROPERTY, padded
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE
from rocketdiff.protocol.consuming import MemberSetup
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.run.case.consuming.consuming_run import WARM_MESSAGES
from rocketdiff.run.case.open_connections import below, held_by, open_sockets
from rocketdiff.subjects.consuming.limits import MemberLimits
from rocketdiff.subjects.consuming.talk import ConsumingTalk
from rocketdiff.subjects.kinds.java import CLIENT
from rocketdiff.subjects.registry import program_of
from rocketdiff.subjects.subject_process import SubjectProcess
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting.sending import SendRequest, send_message

MESSAGES = 20
QUEUES = 2
BODY_BYTES = 64
FAILS_ONCE = ListenerRule(0, every=MESSAGES, tries=1, outcome=ListenerOutcome.LATER, delay_level=1)
WITHIN_S = 60.0
"""A new group has its queues after a round of 20 s at worst; the retry is due after 1 s."""

QUIET_WITHIN_S = 10.0
"""Network threads of the warm-up member end 3 s after it has left."""

HEAD = """\
| Release | ready ms | join ms | first call ms | leave ms | end ms | calls | retries | committed | |
|---|---|---|---|---|---|---|---|---|---|
"""

_LOOK_S = 0.05
_OF_NO_MEMBER = ("C1 ", "C2 ", "Common-Cleaner", "Cleaner-", "process reaper", "Attach", "Sweeper", "session", "AsyncAppender",
                 "RequestHouseKee")  # fmt: skip
"""
Threads that a JVM starts when it likes, the driver's own, one that writes the log of all clients of a process, and a daemon
timer of the inner producer, which 4.6.0 to 4.7.0 never cancel.
"""


@dataclass(slots=True)
class Row:
    """What one release did; times in milliseconds. left_behind: threads and connections of the warm-up member."""

    release: str
    left_behind: str = ""
    ready_ms: int = 0
    join_ms: int = 0
    first_ms: int = 0
    deliveries: int = 0
    retries: int = 0
    committed: int = 0
    leave_ms: int = 0
    end_ms: int = 0
    problem: str = ""

    @property
    def is_right(self) -> bool:
        counts = (self.deliveries, self.retries, self.committed)
        return not (self.problem or self.left_behind) and counts == (MESSAGES + 1, 1, MESSAGES + 1)


@dataclass(frozen=True, slots=True)
class _Place:
    """Names for one release on the cluster's only broker, whose topics are created."""

    cluster: Cluster
    channels: Channels
    name: str

    @property
    def retry(self) -> str:
        return f"%RETRY%{self.name}"

    def create(self) -> None:
        for topic, queues in ((self.name, QUEUES), (f"{self.name}-warm", 1), (self.retry, 1)):
            self.cluster.create_topic(topic, queues)
        for _ in range(WARM_MESSAGES):
            admin.store_probe(self.channels, self.cluster.brokers[0].address, 0, b"warm", f"{self.name}-warm")

    def setup(self) -> MemberSetup:
        return MemberSetup(
            member=0,
            instance=self.name,
            name_servers=self.cluster.name_server_addresses,
            topic=self.name,
            warm_topic=f"{self.name}-warm",
            group=self.name,
            warm_group=f"{self.name}-warm",
            run="run",
            listener=ListenerKind.CONCURRENT,
            model=MessageModel.CLUSTERING,
            strategy=Allocation.AVG,
            work_ms=0,
            body_bytes=(BODY_BYTES,),
            settings={"consume_from_where": "first"},
            properties={},
        )

    def feed(self) -> None:
        for send in range(MESSAGES):
            identity = f"run/{self.name}/{send}"
            request = SendRequest(
                topic=self.name,
                queue_id=send % QUEUES,
                body=padded(identity, BODY_BYTES),
                group="feeder",
                born_timestamp_ms=time.time_ns() // 1_000_000,
                properties={ID_PROPERTY: identity},
            )
            self.channels.invoke(self.cluster.brokers[0].address, send_message(request), admin.REQUEST_TIMEOUT_MS)

    def committed(self) -> int:
        broker = self.cluster.brokers[0]
        queues = [*((self.name, queue_id) for queue_id in range(QUEUES)), (self.retry, 0)]
        asked = (committed_offset(self.channels, (broker.name, broker.address), self.name, *queue) for queue in queues)
        return sum(offset or 0 for offset in asked)


def row_of(release: str, cluster: Cluster, channels: Channels, folder: Path) -> Row:
    """Run one release and return its row."""
    row = Row(release)
    place = _Place(cluster, channels, f"all-{release.replace('.', '-')}-{time.time_ns() % 1_000_000}")
    try:
        place.create()
        place.feed()
        program = program_of(SubjectId(CLIENT, release))
        with SubjectProcess(program, Member(Arm.BASELINE, 0), folder / release, on_line=lambda _: None) as subject:
            _live(subject, place, row)
            row.end_ms = _ms_of(lambda: subject.stop(WITHIN_S) and subject.await_end(WITHIN_S))
            if not subject.await_end(0):
                row.problem = "its process did not end"
    except HarnessError as error:
        row.problem = " ".join(str(error).split())
    row.committed = place.committed()
    return row


def _live(subject: SubjectProcess, place: _Place, row: Row) -> None:
    """From hello to done. Raises SubjectBroken."""
    talk = ConsumingTalk(place.setup(), [FAILS_ONCE], MemberLimits())
    subject.await_hello()
    before = _threads(subject.pid)
    subject.prepare(talk)
    row.ready_ms = _ms_of(subject.await_ready)
    row.left_behind = _left_behind(subject.pid, before)
    subject.order(lambda: talk.join(0, time.monotonic_ns()))
    subject.await_that(lambda: talk.joined is not None, WITHIN_S)
    joined = talk.joined
    if joined is None or joined.error is not None:
        row.problem = "no joined" if joined is None else f"start threw {joined.error}: {joined.message}"
        return
    row.join_ms = (joined.end_ns - joined.start_ns) // 1_000_000

    def calls() -> list[Received]:
        return [each for each in subject.transcript.others.get(Received, []) if isinstance(each, Received)]

    subject.await_that(lambda: talk.ended > MESSAGES, WITHIN_S)
    if began := calls():
        row.first_ms = (began[0].at_ns - joined.start_ns) // 1_000_000
    delivered = [message for call in calls() for message in call.messages]
    row.deliveries, row.retries = len(delivered), sum(message.times == 1 for message in delivered)
    if not all(message.body_ok for message in delivered):
        row.problem = "a damaged body"
    subject.order(lambda: talk.leave(0, time.monotonic_ns(), is_last=True))
    subject.await_done(WITHIN_S)
    left = subject.transcript.others[Left][0]
    assert isinstance(left, Left)
    row.leave_ms = (left.end_ns - left.start_ns) // 1_000_000


def _threads(supervisor: int) -> set[str]:
    """Names of all threads below a supervisor that may be a member's."""
    names = set()
    for pid in below(supervisor):
        for task in Path(f"/proc/{pid}/task").glob("*/comm"):
            with contextlib.suppress(OSError):
                names.add(task.read_text().strip())
    return {name for name in names if not name.startswith(_OF_NO_MEMBER)}


def _left_behind(supervisor: int, before: set[str]) -> str:
    """Return what the warm-up member has left, as words; empty once nothing is left."""
    deadline = time.monotonic() + QUIET_WITHIN_S
    while True:
        sockets = open_sockets()
        connections = len(held_by(supervisor, sockets) or ()) if sockets is not None else 0
        threads = _threads(supervisor) - before
        if not threads and not connections:
            return ""
        if time.monotonic() > deadline:
            return f"{connections} connections, threads {sorted(threads)}"
        time.sleep(_LOOK_S)


def _ms_of(step: Callable[[], object]) -> int:
    began = time.monotonic()
    step()
    return round(1_000 * (time.monotonic() - began))


def _lines(rows: Iterator[Row]) -> Iterator[tuple[Row, str]]:
    for row in rows:
        times = f"{row.ready_ms} | {row.join_ms} | {row.first_ms} | {row.leave_ms} | {row.end_ms}"
        counts = f"{row.deliveries} | {row.retries} | {row.committed}"
        flaw = "; ".join(filter(None, (row.problem, row.left_behind)))
        yield row, f"| {row.release} | {times} | {counts} | {'right' if row.is_right else flaw or 'wrong counts'} |\n"


def main() -> int:
    """Return 0 if every release did all of it."""
    parser = argparse.ArgumentParser(prog="python -m maintenance.consumers.releases", description=__doc__)
    parser.add_argument("releases", nargs="*", default=client_releases())
    parser.add_argument("--server", default=DEFAULT_RELEASE)
    asked = parser.parse_args()
    sys.stdout.write(HEAD)
    with (
        tempfile.TemporaryDirectory() as made,
        start_cluster(topology="one-master", server_release=asked.server, folder=Path(made) / "cluster") as cluster,
        channels_to(security_of(cluster)) as channels,
    ):
        wrong = 0
        rows = (row_of(release, cluster, channels, Path(made)) for release in asked.releases)
        for row, line in _lines(rows):
            sys.stdout.write(line)
            sys.stdout.flush()
            wrong += not row.is_right
    sys.stdout.write(f"{len(asked.releases) - wrong} of {len(asked.releases)} releases did all of it\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
