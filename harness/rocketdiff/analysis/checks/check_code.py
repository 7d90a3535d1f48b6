"""How the code of a check is registered: by one value, ``CODE``, at the end of its file."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Generic, TypeVar

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.core.answers.evidence import Evidence

Observing = TypeVar("Observing")
"""Makes an observer of a case, which reads it once and writes facts."""

CalmCounts = TypeVar("CalmCounts")
"""What is counted of the operations that only exist as columns."""


@dataclass(frozen=True, slots=True)
class CheckCode(Generic[Observing, CalmCounts]):
    """
    The code of one check.

    name: of ``core.tables.checks``. observers: write the facts that belong to this check. evaluate: evidence from the
    facts of one case. pooled: from those of all cases. calm: what the observers would count of calm operations.
    """

    name: str
    _: KW_ONLY
    evaluate: Callable[[CaseFacts], Evidence]
    observers: tuple[Observing, ...] = ()
    pooled: Callable[[Sequence[CaseFacts]], tuple[Evidence, ...]] | None = None
    calm: tuple[CalmCounts, ...] = ()

    @property
    def modules(self) -> frozenset[str]:
        parts = (self.evaluate, *(() if self.pooled is None else (self.pooled,)), *self.observers)
        return frozenset(str(part.__module__) for part in parts)
