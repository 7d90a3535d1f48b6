"""Values of --cluster and --server."""

from pathlib import Path

import pytest

from rocketdiff.cluster.start import backend_named, own_backend_named
from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.fault import FaultKind, FaultSpec
from rocketdiff.core.tables.topology import topology_named

FILE = """\
format: 1
name: staging
topic_prefix: rocketdiff-team
name_servers: [{address: "127.0.0.1:1"}]
brokers: {a: {name: mq-red}, b: {name: mq-blue}}
"""


@pytest.mark.parametrize("written", ["processes", "containers", "containers:bridge", "containers:host"])
def test_a_backend_of_ours_is_named_as_it_was_written(written: str) -> None:
    """A backend has the name from the command line."""
    backend = backend_named(written, "4.9.7")
    assert (backend.name, backend.title, backend.server_release) == (written, written, "4.9.7")
    assert not backend.is_shared


@pytest.mark.parametrize(
    "written", ["", "clouds", "processes:", "processes:x", "containers:x", "external", "external:"]
)
def test_an_unknown_choice_is_refused(written: str) -> None:
    """An unknown backend is refused before downloads."""
    with pytest.raises(UsageError):
        backend_named(written)


def test_somebodys_own_cluster_has_its_owners_names(tmp_path: Path) -> None:
    """An external cluster has its owner's names; its release is unknown until brokers report it."""
    (tmp_path / "cluster.yaml").write_text(FILE)
    backend = backend_named(f"external:{tmp_path / 'cluster.yaml'}")
    assert (backend.name, backend.title) == (f"external:{tmp_path / 'cluster.yaml'}", "external (staging)")
    assert (backend.server_release, backend.is_shared, backend.topic_prefix) == ("", True, "rocketdiff-team")
    assert backend.brokers(topology_named("two-masters")) == ("mq-red", "mq-blue")
    assert backend.why_not(topology_named("three-masters"), (), delayed=False) == "no broker c"
    moves = backend.why_not(topology_named("two-masters"), (FaultSpec(1, FaultKind.MOVE, "a", 1, 1),), delayed=False)
    assert moves == "the ports of staging are not ours, so no broker can move; try --cluster processes"


def test_where_clusters_are_started_somebodys_own_is_refused_unread() -> None:
    """A command that starts clusters refuses an external one."""
    with pytest.raises(UsageError, match=r"a backend that starts clusters; saw 'external:nowhere.yaml'; try: so"):
        own_backend_named("external:nowhere.yaml", hint="so")
