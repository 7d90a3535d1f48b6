"""Packages that only a part of rocketdiff needs, in groups that are installed by name: ``pip install 'rocketdiff[record]'``."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from rocketdiff.core.errors import EnvironmentMissing


@dataclass(frozen=True, slots=True)
class Extra:
    """name: as in pyproject.toml. modules: what its packages provide. purpose: what needs them."""

    name: str
    modules: tuple[str, ...]
    purpose: str

    @property
    def remedy(self) -> str:
        return f"pip install 'rocketdiff[{self.name}]'"

    def missing(self) -> EnvironmentMissing | None:
        """Return the error that states what is not installed; imports nothing."""
        absent = [module for module in self.modules if find_spec(module) is None]
        return self._error(absent[0]) if absent else None

    @contextmanager
    def needed(self) -> Iterator[None]:
        """Raise EnvironmentMissing for an import that fails because the extra is not installed."""
        try:
            yield
        except ModuleNotFoundError as error:
            module = (error.name or "").partition(".")[0]
            if module not in self.modules:
                raise
            raise self._error(module) from error

    def _error(self, module: str) -> EnvironmentMissing:
        return EnvironmentMissing(
            f"the packages of the extra {self.name}, for {self.purpose}", seen=f"no module {module}", hint=self.remedy
        )


CHARTS = Extra("charts", ("altair", "vl_convert"), "charts of shares, failover and ambiguity")
CONTAINERS = Extra("containers", ("docker", "testcontainers"), "--cluster containers")
RECORD = Extra("record", ("deltalake",), "the record of runs")
EXTRAS = (CHARTS, CONTAINERS, RECORD)
