"""Which topology an item wants, and the group of items that share its cluster."""

import pytest

DEFAULT_TOPOLOGY = "two-masters"


def grouped(item: pytest.Item, topology: str) -> None:
    """Put an item into its topology's group, where there is an xdist that knows of groups."""
    if item.config.pluginmanager.hasplugin("xdist"):
        item.add_marker(pytest.mark.xdist_group(f"rocketdiff-{topology}"))


def topology_of(item: pytest.Item) -> str:
    """What the nearest marker says, or the topology of most scenarios."""
    marker = item.get_closest_marker("rocketdiff")
    return str(marker.kwargs.get("topology", DEFAULT_TOPOLOGY)) if marker else DEFAULT_TOPOLOGY
