"""A scenario as a pytest item, named like its case. It fails if its case fails, with the divergences in its report."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult
from rocketdiff.core.errors import HarnessError
from rocketdiff.core.files import regular_bytes
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
"""Top-level fields of every scenario. Other YAML files do not have all three."""


def looks_like_scenario(path: Path) -> bool:
    """True if a YAML file is meant to be a scenario, valid or not."""
    try:
        text = "\n" + regular_bytes(path).decode()
    except (OSError, UnicodeDecodeError):
        return False
    return all(mark in text for mark in _MARKS_OF_A_SCENARIO)


class WrongCase(Exception):
    """A gating check of the case has a failing answer."""

    def __init__(self, answer: "CaseAnswer") -> None:
        super().__init__(answer.verdict)
        self.answer = answer


class PluginSession(Protocol):
    """What an item needs of its session: collection.Scenarios."""

    @property
    def cases(self) -> "Cases":
        """The cases of this process."""

    def case_name(self, scenario: Scenario) -> str:
        """Name of a scenario's item."""

    def wants(self, scenario: Scenario) -> bool:
        """True if a glob selects it."""


class ScenarioCollector(pytest.File):
    """One scenario file of the user's repository."""

    scenarios: "PluginSession"

    @classmethod
    def of(cls, parent: pytest.Collector, path: Path, scenarios: "PluginSession") -> "ScenarioCollector":
        made: ScenarioCollector = cls.from_parent(parent, path=path)
        made.scenarios = scenarios
        return made

    def collect(self) -> Iterator[pytest.Item]:
        scenario = load(self.path)
        if self.scenarios.wants(scenario):
            yield CaseItem.of(self, scenario, self.scenarios)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]  # as pytest.Collector's
        """One message for an invalid file, not a traceback."""
        return str(excinfo.value) if isinstance(excinfo.value, HarnessError) else super().repr_failure(excinfo)


class ShippedScenarios(pytest.Collector):
    """Collector of scenarios that come with rocketdiff or are in the given folder, outside the repository."""

    def collect(self) -> Iterator[pytest.Item]:
        """The items are added after collection."""
        yield from ()


class CaseItem(pytest.Item):
    """One case. Its set-up starts the cluster; its call runs and judges the case."""

    scenario: Scenario
    scenarios: "PluginSession"
    planned: "PlannedCase"

    @classmethod
    def of(cls, parent: pytest.Collector, scenario: Scenario, scenarios: "PluginSession") -> "CaseItem":
        made: CaseItem = cls.from_parent(parent, name=scenarios.case_name(scenario))
        made.scenario, made.scenarios = scenario, scenarios
        made.add_marker(pytest.mark.rocketdiff(topology=scenario.topology))
        grouped(made, scenario.topology)
        return made

    def setup(self) -> None:
        """Start the cluster; a failure is one message. A case that a run would leave out is skipped."""
        if reason := self.scenarios.cases.why_not(self.scenario):
            pytest.skip(reason)
        try:
            self.planned = self.scenarios.cases.plan(self.scenario)
        except HarnessError as error:
            pytest.fail(f"rocketdiff: {error}", pytrace=False)

    def runtest(self) -> None:
        """For a failing case only the failure reports."""
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
        """Divergences or what is missing. A traceback only for an internal error."""
        error = excinfo.value
        if isinstance(error, WrongCase):
            return f"{error.answer.verdict}: {self.name}\n{answer_text(error.answer, only_wrong=True)}"
        return f"rocketdiff: {error}" if isinstance(error, HarnessError) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The scenario's file, and a title that does not end the node id: pytest would split it at its dots."""
        return Path(self.scenario.source), None, f"rocketdiff {self.name}"


def answer_text(answer: "CaseAnswer", *, only_wrong: bool = False) -> str:
    """A line for every check (or every one that fails the case), and its divergences with an example each."""
    wrong = ("failure", "error")
    shown = [result for result in answer.results if not only_wrong or outcome_of(result, answer.policy) in wrong]
    return "\n".join(line for result in shown for line in _lines(result, answer.policy))


def _lines(result: CheckResult, policy: Policy) -> Iterator[str]:
    sign = answer_sign(result, policy)
    reason = f": {result.reason}" if result.reason else ""
    yield f"{sign.mark} {result.check} {sign.word}{reason}"
    for divergence in result.divergences:
        known = f" (declared by {divergence.declared_by})" if divergence.declared_by else ""
        yield f"    {divergence.signature}, {divergence.subject}, {divergence.count:,} ×{known}"
        yield f"      expected: {divergence.example.expected}"
        yield f"      observed: {divergence.example.observed}"
        if divergence.example.where.is_known:
            yield f"      example:  {divergence.example.where.operation}, phase {phase_word(divergence.example.phase)}"
