"""The slot of a node: ports, folder, settings, disk space."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from rocketdiff.cluster.launched.node_slot import clear, moved, prepare, require_disk_space, reserve_slots, take_folder
from rocketdiff.cluster.launched.ports import BROKER_PORTS, reserve_given
from rocketdiff.core.errors import EnvironmentMissing, UsageError
from rocketdiff.core.tables.topology import NodeKind, topology_named

GIB = 2**30


def pretend(monkeypatch: pytest.MonkeyPatch, used: int, free: int) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(used=used, free=free))


def test_name_servers_come_first_and_all_ports_differ(tmp_path: Path) -> None:
    """Name servers come first, and all ports differ, including a broker's neighbours."""
    slots = reserve_slots(topology_named("two-masters-two-name-servers"), tmp_path, None)
    assert [slot.name for slot in slots] == ["name-server-1", "name-server-2", "broker-a", "broker-b"]
    taken = [
        port
        for slot in slots
        for port in (*slot.client_ports, *([slot.port + 1] if slot.role is NodeKind.BROKER else []))
    ]
    assert len(set(taken)) == len(taken) == 2 + 2 * 3
    for slot in slots:
        slot.reserved.release()


def test_slaves_come_last_with_ports_of_their_own(tmp_path: Path) -> None:
    """Slaves come last, with ports for clients, old clients and replication."""
    slots = reserve_slots(topology_named("master-with-slave-sync"), tmp_path, None)
    for slot in slots:
        slot.reserved.release()
    assert [(slot.role, slot.name) for slot in slots[1:]] == [
        (NodeKind.BROKER, "broker-a"),
        (NodeKind.SLAVE, "broker-a-slave-1"),
    ]
    assert slots[2].client_ports == (slots[2].port - 2, slots[2].port)


def test_a_broker_that_moves_has_other_ports_and_holds_its_old_ones(tmp_path: Path) -> None:
    """A moved broker's settings end with its new ports; its old ones stay reserved."""
    topology = topology_named("one-master")
    name_server, broker = reserve_slots(topology, tmp_path, None)
    prepare(broker, topology, [name_server.address])
    elsewhere = moved(broker)
    assert elsewhere.port != broker.port
    assert (elsewhere.name, elsewhere.store) == (broker.name, broker.store)
    lines = broker.settings.read_text().splitlines()
    assert f"listenPort={broker.port}" in lines
    assert lines[-2:] == [f"listenPort={elsewhere.port}", f"haListenPort={elsewhere.port + 1}"]
    with pytest.raises(EnvironmentMissing):
        reserve_given(broker.port, BROKER_PORTS, "broker")
    for slot in (name_server, broker, elsewhere):
        slot.reserved.release()


def test_a_folder_is_made_with_those_above_it_and_may_hold_other_things(tmp_path: Path) -> None:
    """A cluster's folder is created with parents and may have other files."""
    folder = tmp_path / "run" / "cluster"
    take_folder(folder, topology_named("two-masters"))
    (folder / "supervisor.log").write_text("")
    (folder / "broker-c").mkdir()
    take_folder(folder, topology_named("two-masters"))
    assert {path.name for path in folder.iterdir()} == {"supervisor.log", "broker-c"}, (
        "taken without an error, as it was"
    )


@pytest.mark.parametrize("name", ["name-server-1", "broker-b"])
def test_a_folder_with_a_node_of_an_earlier_cluster_is_refused(tmp_path: Path, name: str) -> None:
    """A folder with an earlier cluster's node is refused: its logs are evidence, its store would be read."""
    (tmp_path / name).mkdir()
    with pytest.raises(UsageError, match=rf"without an earlier cluster's files; saw {tmp_path / name}"):
        take_folder(tmp_path, topology_named("two-masters"))


def test_a_folder_that_cannot_be_made_is_one_clear_message(tmp_path: Path) -> None:
    """A folder that cannot be created, or whose disk cannot be measured, is one environment error."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EnvironmentMissing, match=r"to be able to write the cluster's files to .*file/cluster"):
        take_folder(tmp_path / "file" / "cluster", topology_named("one-master"))
    with pytest.raises(EnvironmentMissing, match="to be able to write the cluster's files"):
        require_disk_space(tmp_path / "gone", nodes=1)


def test_clearing_removes_the_store_and_keeps_logs_and_settings(tmp_path: Path) -> None:
    """Log settings have names for 5.x and 4.9.x; clearing removes the store; log and settings stay as evidence."""
    slots = reserve_slots(topology_named("one-master"), tmp_path, None)
    slot = slots[1]
    prepare(slot, topology_named("one-master"), ["127.0.0.1:20000"])
    names = {"logback.xml", "logback_broker.xml", "logback_namesrv.xml"}
    assert {file.name for file in (slot.folder / "conf").iterdir()} == names
    slot.store.mkdir()
    slot.log.write_text("said")
    clear(slot)
    for taken in slots:
        taken.reserved.release()
    assert not slot.store.exists()
    assert not (slot.folder / "tmp").exists()
    assert slot.log.read_text() == "said"
    assert slot.settings.exists()


@pytest.mark.parametrize(
    ("used", "free", "message"),
    [
        (GIB, 10 * 2**20, r"192 MiB free .* saw 10 MiB"),
        (950 * GIB, 50 * GIB, r"brokers refuse to write above 90 %; saw 95.0%"),
    ],
)
def test_a_disk_without_room_is_one_clear_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, used: int, free: int, message: str
) -> None:
    """Too little space, or a disk above 90 %, at which brokers refuse to write, is one environment error."""
    pretend(monkeypatch, used, free)
    with pytest.raises(EnvironmentMissing, match=message):
        require_disk_space(tmp_path, nodes=3)
    pretend(monkeypatch, used=50 * GIB, free=50 * GIB)
    require_disk_space(tmp_path, nodes=4)
