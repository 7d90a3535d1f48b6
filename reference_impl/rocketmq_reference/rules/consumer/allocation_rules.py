"""Type of the differences between releases in what strategies there are; the values are in rocketmq_reference.dialects.allocation."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AllocationRules:
    """strategies: the names of those that a release has."""

    strategies: frozenset[str]
