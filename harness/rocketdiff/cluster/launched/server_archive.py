"""
The class archive of servers; one serves the name servers and brokers of a release.

Its training run is a broker without a name server, which ends as soon as it has started.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rocketdiff.cluster.launched.command_line import FLAGS, Installation, environment, java_command
from rocketdiff.cluster.launched.node_slot import NodeSlot, prepare, reserve_slots
from rocketdiff.cluster.operations.readiness import READY_TIMEOUT_S
from rocketdiff.core.tables.topology import NodeKind, topology_named
from rocketdiff.process.child import Child
from rocketdiff.releases.class_archive import JavaStart, archive_of

_TOPOLOGY = topology_named("one-master")


def with_class_archive(installation: Installation) -> Installation:
    """Return the installation with its archive, made now if an earlier command used the installation and left none."""
    archive = archive_of(start_of(installation), lambda file, folder: train(installation, file, folder))
    return replace(installation, class_archive=archive)


def start_of(installation: Installation) -> JavaStart:
    """The values that the JVM compares before it maps an archive."""
    return JavaStart(f"server-{installation.release}", installation.java, FLAGS, installation.class_path)


def train(installation: Installation, archive: Path, draft: Path) -> str:
    """Write the archive and return how the broker ended. Nothing else of the run stays, even if this process is killed."""
    folder = draft / "training"
    with _broker_slot(folder) as slot, contextlib.closing(_broker(installation, slot, archive, draft)) as broker:
        # Needs about 5 s of CPU time, which takes long on a busy machine.
        has_ended = broker.await_end(READY_TIMEOUT_S)
        how = broker.how_it_ended() if has_ended else f"it had not ended after {READY_TIMEOUT_S:g} s"
        is_complete = has_ended and broker.status() == 0
        last_words = broker.last_words()
    shutil.rmtree(folder)
    if not is_complete:
        archive.unlink(missing_ok=True)
    return f"{how}; its last line: {last_words}"


@contextlib.contextmanager
def _broker_slot(folder: Path) -> Iterator[NodeSlot]:
    """The slot of a broker whose name server is not started; its ports stay reserved."""
    slots = reserve_slots(_TOPOLOGY, folder, None)
    try:
        name_servers = [slot.address for slot in slots if slot.role is NodeKind.NAME_SERVER]
        broker = next(slot for slot in slots if slot.role is NodeKind.BROKER)
        prepare(broker, _TOPOLOGY, name_servers)
        yield broker
    finally:
        for slot in slots:
            slot.reserved.release()


def _broker(installation: Installation, slot: NodeSlot, archive: Path, scratch: Path) -> Child:
    command = java_command(
        replace(installation, class_archive=None),
        slot.role,
        slot.folder,
        (f"-XX:ArchiveClassesAtExit={archive}", "-Drocketdiff.halt=true"),
    )
    log = tempfile.TemporaryFile()  # noqa: SIM115  # the child closes it
    return Child(
        command,
        stderr=log,
        environment=environment(os.environ),
        folder=slot.folder,
        scratch=scratch,
        is_heard=False,
    )
