"""A scenario as pytest sees it: an item named like its case, which fails as its case does, with the divergences in its report."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult
from rocketdiff.core.errors import HarnessError
from rocketdiff.pytest_plugin.markers import grouped
from rocketdiff.report.formats.junit import outcome_of
from rocketdiff.report.words.signs import answer_sign, phase_word
from rocketdiff.scenario import Scenario, load
from rocketdiff.verdict.judge import RunVerdict

if TYPE_CHECKING:
    from rocketdiff.pytest_plugin.cases import Cases, PlannedCase
    from rocketdiff.run.case_session import CaseAnswer

SECTION = "rocketdiff"

_MARKS_OF_A_SCENARIO = ("\nestablishes:", "\ntopology:", "\nworkload:")
"""Fields that every scenario has at the left edge; among the YAML of somebody's repository nothing else has all three."""


def looks_like_scenario(path: Path) -> bool:
    """Whether a YAML file means to be a scenario, right or wrong; others are none of our business."""
    try:
        text = "\n" + path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return all(mark in text for mark in _MARKS_OF_A_SCENARIO)


class WrongCase(Exception):
    """A gating check of the case is not answered well."""

    def __init__(self, answer: "CaseAnswer") -> None:
        super().__init__(answer.verdict)
        self.answer = answer


class Session(Protocol):
    """What an item asks of the session that it belongs to: collection.Scenarios."""

    @property
    def cases(self) -> "Cases":
        """Where this process runs its cases."""

    def case_name(self, scenario: Scenario) -> str:
        """Name of a scenario's item."""

    def wants(self, scenario: Scenario) -> bool:
        """Whether it is among those asked for by glob."""


class ScenarioFile(pytest.File):
    """One scenario of somebody's own repository."""

    scenarios: "Session"

    @classmethod
    def of(cls, parent: pytest.Collector, path: Path, scenarios: "Session") -> "ScenarioFile":
        """The file, which tells its items what they run by."""
        made: ScenarioFile = cls.from_parent(parent, path=path)
        made.scenarios = scenarios
        return made

    def collect(self) -> Iterator[pytest.Item]:
        """Its one case, if the globs want it."""
        scenario = load(self.path)
        if self.scenarios.wants(scenario):
            yield CaseItem.of(self, scenario, self.scenarios)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]  # as pytest.Collector's
        """A refused file is one message with the line, not a traceback."""
        return str(excinfo.value) if isinstance(excinfo.value, HarnessError) else super().repr_failure(excinfo)


class ShippedScenarios(pytest.Collector):
    """Those that come with rocketdiff, or lie in the folder that was named; no file of the repository is theirs."""

    def collect(self) -> Iterator[pytest.Item]:
        """Nothing by itself: the items are handed in when the rest is collected."""
        yield from ()


class CaseItem(pytest.Item):
    """One case; its set-up is the cluster, its call the run and the judgement."""

    scenario: Scenario
    scenarios: "Session"
    planned: "PlannedCase"

    @classmethod
    def of(cls, parent: pytest.Collector, scenario: Scenario, scenarios: "Session") -> "CaseItem":
        """An item in the group of its topology, with the plugin's marker."""
        made: CaseItem = cls.from_parent(parent, name=scenarios.case_name(scenario))
        made.scenario, made.scenarios = scenario, scenarios
        made.add_marker(pytest.mark.rocketdiff(topology=scenario.topology))
        grouped(made, scenario.topology)
        return made

    def setup(self) -> None:
        """Have the cluster of the topology up; what keeps it from being so is one message. What a run would leave out is a skip."""
        if reason := self.scenarios.cases.why_not(self.scenario):
            pytest.skip(reason)
        try:
            self.planned = self.scenarios.cases.plan(self.scenario)
        except HarnessError as error:
            pytest.fail(f"rocketdiff: {error}", pytrace=False)

    def runtest(self) -> None:
        """Run, judge, and say what was seen; of a case that fails the failure says it, once."""
        answer = self.scenarios.cases.run(self.planned)
        for result in answer.results:
            for divergence in result.divergences:
                self.user_properties.append(("rocketdiff_signature", f"{result.check} {divergence.signature}"))
        if answer.verdict in (RunVerdict.CONFORMS, RunVerdict.NOTHING_DECISIVE):
            self.add_report_section("call", SECTION, answer_text(answer))
        if answer.verdict is RunVerdict.NOTHING_DECISIVE:
            pytest.skip("nothing decisive ran: no check of this case could have told the clients apart")
        if answer.verdict is not RunVerdict.CONFORMS:
            raise WrongCase(answer)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What diverged, or what is missing; a traceback only for a fault of ours."""
        error = excinfo.value
        if isinstance(error, WrongCase):
            return f"{error.answer.verdict}: {self.name}\n{answer_text(error.answer, only_wrong=True)}"
        return f"rocketdiff: {error}" if isinstance(error, HarnessError) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The scenario's file, and a title that is no end of the node's id, in which pytest would take dots for doors."""
        return Path(self.scenario.source), None, f"rocketdiff {self.name}"


def answer_text(answer: "CaseAnswer", *, only_wrong: bool = False) -> str:
    """A line for every check (or every one that fails the case), and its divergences with an example each."""
    wrong = ("failure", "error")
    shown = [one for one in answer.results if not only_wrong or outcome_of(one, answer.policy) in wrong]
    return "\n".join(line for result in shown for line in _lines(result, answer.policy))


def _lines(result: CheckResult, policy: Policy) -> Iterator[str]:
    sign = answer_sign(result, policy)
    reason = f": {result.reason}" if result.reason else ""
    yield f"{sign.mark} {result.check} {sign.word}{reason}"
    for one in result.divergences:
        known = f" (declared by {one.declared_by})" if one.declared_by else ""
        yield f"    {one.signature}, {one.subject}, {one.count:,} ×{known}"
        yield f"      expected: {one.example.expected}"
        yield f"      observed: {one.example.observed}"
        if one.example.send >= 0:
            yield f"      example:  send {one.example.send}, phase {phase_word(one.example.phase)}"
