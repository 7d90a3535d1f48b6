"""Extras have the names and packages of pyproject.toml."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from rocketdiff.core.extras import EXTRAS

DECLARED = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["optional-dependencies"]

WITH_PROGRAMS_OF_THEIR_OWN = {"cpp", "pytest"}
"""Imported by a subject, and by what the user starts."""


def test_every_extra_is_declared_with_the_packages_of_its_modules() -> None:
    """Pip finds each extra under the name in the message, and its packages provide its modules."""
    packages = {
        extra: [Requirement(text).name.removesuffix("-python").replace("-", "_") for text in texts]
        for extra, texts in DECLARED.items()
        if extra not in WITH_PROGRAMS_OF_THEIR_OWN
    }
    assert packages == {extra.name: list(extra.modules) for extra in EXTRAS}


def test_installed_extras_are_not_missing() -> None:
    """The environment of the tests has every extra."""
    assert [extra.missing() for extra in EXTRAS] == [None, None, None]
