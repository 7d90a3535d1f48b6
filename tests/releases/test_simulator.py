"""What the hosts of the simulation need, brought before any of them is started."""

import pytest

from rocketdiff.releases import simulator
from rocketdiff.releases.progress import Silent
from rocketdiff.releases.simulator import fetch_simulation


def test_the_hosts_own_classes_and_those_of_all_releases_are_brought_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """By whoever starts several hosts, which then find everything."""
    done: list[tuple[str, object]] = []
    monkeypatch.setattr(simulator, "simulator_class_path", lambda listener: done.append(("host", listener)))
    monkeypatch.setattr(
        simulator, "fetch_clients", lambda releases, listener: done.append((" ".join(releases), listener))
    )
    listener = Silent()
    fetch_simulation(("4.9.8", "5.3.3"), listener)
    assert done == [("host", listener), ("4.9.8 5.3.3", listener)]
