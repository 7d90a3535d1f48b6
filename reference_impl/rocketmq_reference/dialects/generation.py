"""One part's rules in a range of releases; each generation is defined by its parent and the differences."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from rocketmq_reference.rules.dialect import Releases

Rules = TypeVar("Rules")


@dataclass(frozen=True, slots=True)
class Generation(Generic[Rules]):
    """Rules of one part of a dialect; parent: the generation it was derived from, None for the oldest."""

    releases: Releases
    parent: "Generation[Rules] | None"
    rules: Rules

    def followed(self, first: str, last: str, rules: Rules) -> "Generation[Rules]":
        return Generation(Releases(first, last), self, rules)
