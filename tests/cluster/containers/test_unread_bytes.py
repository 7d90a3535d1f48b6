"""Unread bytes in a container's network."""

from pathlib import Path

import pytest

from rocketdiff.cluster.containers.container import unread_inside

PORT = 20_000
TABLE = f"""  sl  local_address rem_address   st tx_queue rx_queue
   0: 0100007F:{PORT:04X} 00000000:0000 0A 00000000:00000003 00:00000000
"""


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """Process 7 belongs to the container c1."""
    (tmp_path / "7" / "net").mkdir(parents=True)
    (tmp_path / "7" / "net" / "tcp").write_text(TABLE)
    (tmp_path / "7" / "cgroup").write_text("1:cpu:/c1\n0::/c1\n")
    return tmp_path


def test_unread_bytes_of_a_container_are_read_through_its_process(proc: Path) -> None:
    """A container's unread bytes are read through its process."""
    assert unread_inside(7, "c1", {PORT}, proc) == 3


@pytest.mark.parametrize(("pid", "container"), [(7, "c2"), (8, "c1"), (0, "c1")])
def test_a_foreign_process_gives_no_count(proc: Path, pid: int, container: str) -> None:
    """A foreign process gives no count: another host's engine reports that host's process ids."""
    assert unread_inside(pid, container, {PORT}, proc) is None
