"""
For all tests: no test may fail because the machine was busy, or because a generator drew other numbers today.

`make test` uses two processes. Tests that start servers mostly wait, and disturb each other's clocks: they go through one
of the two, one after the other, while the rest keeps the other one busy.
"""

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester"]  # the plugin's tests run pytest in projects of their own; it may be asked for here only

settings.register_profile(
    "rocketdiff",
    deadline=None,  # a figure of the wall clock
    derandomize=True,  # a failure in CI must be one here too
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rocketdiff")

LIVE = ("cluster", "container")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Some tests draw their cases and can draw more."""
    parser.addoption(
        "--damages", type=int, default=200, help="how often a stored run is damaged (tests/test_damage.py)"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """One group of all that starts servers, where pytest-xdist hands out tests by group."""
    if not getattr(config.option, "loadgroup", False):
        return
    for item in items:
        if any(item.get_closest_marker(name) for name in LIVE):
            item.add_marker(pytest.mark.xdist_group("live"))
