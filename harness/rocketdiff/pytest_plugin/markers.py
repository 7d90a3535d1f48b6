"""The topology of an item, and the group of items that share its cluster."""

import pytest

DEFAULT_TOPOLOGY = "two-masters"


def grouped(item: pytest.Item, topology: str) -> None:
    """Add an item to its topology's group, if xdist is loaded."""
    if item.config.pluginmanager.hasplugin("xdist"):
        item.add_marker(pytest.mark.xdist_group(f"rocketdiff-{topology}"))


def topology_of(item: pytest.Item) -> str:
    """The topology of the nearest marker, or the default."""
    marker = item.get_closest_marker("rocketdiff")
    return str(marker.kwargs.get("topology", DEFAULT_TOPOLOGY)) if marker else DEFAULT_TOPOLOGY
