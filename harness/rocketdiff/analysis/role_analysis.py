"""What the analysis of a role consists of."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rocketdiff.analysis.case_trace import BATCH_ROWS, CaseTrace
from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.facts import CaseFact
from rocketdiff.core.answers.evidence import SpellCount
from rocketdiff.core.answers.plots import Plots
from rocketdiff.core.answers.where import Place


class CasePass(Protocol):
    """Reads one case and yields its facts."""

    def __call__(
        self,
        trace: CaseTrace,
        *,
        batch_rows: int = BATCH_ROWS,
        wanted: Collection[str] | None = None,
        is_drawn: bool = True,
    ) -> Iterator[CaseFact]:
        """
        Yield the facts of one case.

        batch_rows: rows converted to Python at a time. wanted: checks whose facts are needed, None for all facts. The facts
        of these checks equal those of a full pass; all others may be missing. is_drawn: False leaves out what only pictures read;
        of a case with a difference the bars stay, and of a group the other facts of its timeline, too.
        """


@dataclass(frozen=True, slots=True)
class RoleAnalysis:
    """
    The analysis of cases about clients of one role.

    place: kind of place of its examples. codes: its checks, in the order of evidence. outages: counts those that both arms met, by
    situation: the occasions for a rare divergence. plots: the tables of its pictures, from its cases and the bars of their swim
    lanes.
    """

    place: Place
    judge_case: CasePass
    codes: tuple[CheckCode[Any, Any], ...]
    outages: Callable[[Sequence[CaseFacts]], tuple[SpellCount, ...]]
    plots: Callable[[Sequence[CaseFacts], Sequence[CaseFact]], Plots]
