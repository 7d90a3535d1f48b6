"""The suites: sets of shipped scenarios that are run together."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Suite:
    """A set of scenarios. takes: approximate duration, where a user needs it before the first run."""

    name: str
    takes: str = ""

    @property
    def shown(self) -> str:
        """``quick (about two minutes)``."""
        return f"{self.name} ({self.takes})" if self.takes else self.name


SUITES = {
    suite.name: suite
    for suite in (
        Suite("quick", "about two minutes"),
        Suite("full"),
        Suite("deployments"),
        Suite("modes"),
        Suite("wire"),
        Suite("grpc", "clients behind a proxy, about three minutes"),
        Suite("client", "about four minutes"),
        Suite("consumers", "about eight minutes"),
        Suite("upgrades", "of consumers: what single releases changed, about nine minutes"),
    )
}

EVERY_SUITE = "all"
"""Not a suite: selects every scenario."""

SUITES_IN_WORDS = f"{', '.join(suite.shown for suite in SUITES.values())}, or {EVERY_SUITE}"


def suite_of(asked: str | None, *, is_chosen: bool, first: str = "quick") -> str | None:
    """
    The suite name, or None for every suite: for `all`, and if scenarios are chosen by name or folder.

    first: the suite when nothing is chosen.
    """
    if asked is None:
        return None if is_chosen else first
    return None if asked == EVERY_SUITE else asked
