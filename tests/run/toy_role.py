"""A role that receives nothing: what a new role registers, and nothing else."""

from collections.abc import Iterator
from dataclasses import fields
from enum import StrEnum
from typing import Any, cast

import pytest

from rocketdiff.analysis import registry
from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.role_analysis import RoleAnalysis
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.plots import Plots
from rocketdiff.core.answers.where import Place
from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.tables import roles
from rocketdiff.core.tables.checks import CHECKS, Check, Concern
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.run.case import staged_case
from rocketdiff.run.case.case_run import CaseRun
from rocketdiff.scenario import Scenario
from rocketdiff.traces import run_directory
from rocketdiff.traces.manifest import ArmSummary
from rocketdiff.traces.sealed_case import SealedCase


class ToyRole(StrEnum):
    """The row of ``core.tables.roles``."""

    TOY = "toy"


TOY = cast(ClientRole, ToyRole.TOY)


CHECK = Check("silence", "Neither client receives anything.", Concern.MESSAGES, role=TOY)
"""The row of ``core.tables.checks``."""


class ToyWork:
    """Its part of a scenario."""

    def demands(self, queue_counts: tuple[int, ...]) -> tuple[()]:  # noqa: ARG002 - it needs no topic
        return ()

    def figures(self) -> dict[str, object]:
        return {}


class ToyScenario(Scenario):
    """A scenario of the role."""

    @property
    def work(self) -> Any:
        return {TOY: ToyWork()}

    @classmethod
    def of(cls, scenario: Scenario) -> "ToyScenario":
        values = {each.name: getattr(scenario, each.name) for each in fields(Scenario)}
        return cls(**values | {"checks": (CHECK.name,), "tolerances": ()})


class ToyRun:
    """Its part of a case."""

    is_leaving_work = False
    due_ns = 0
    members: tuple[Member, ...] = ()

    def __init__(self, run: CaseRun) -> None:
        self._run = run

    def silent_members(self) -> tuple[()]:
        return ()

    def go(self) -> None:
        assert self._run.clock is not None
        self._run.directory.begin(self._run.case.plan, clock=self._run.clock, origin_ns=self._run.origin_ns)

    def read_back(self) -> None:
        self._run.is_read_back = True

    def is_stop_wanted(self, member: Member, from_ns: int, to_ns: int) -> bool:  # noqa: ARG002 - RoleRun's
        return False

    def signs_of_life_ns(self) -> tuple[()]:
        return ()

    def guards(self) -> tuple[()]:
        return ()

    def measured(self) -> dict[str, int | float]:
        return {}

    def operations(self) -> dict[Arm, int]:
        return dict.fromkeys(Arm, 0)

    def _nothing(self) -> None: ...

    create_topics = require_claims = prepare = await_end = catch_up = drain_meanwhile = report_wire = _nothing


def sealed_toy(_: object) -> SealedCase:
    """Its tables: none."""
    return SealedCase({}, dict.fromkeys(Arm, ArmSummary(sends=0, attempts=0, unanswered=0, done=True)))


def facts_of_toy(*_: object, **__: object) -> Iterator[Any]:
    """Its facts: none."""
    return iter(())


def evaluate(facts: CaseFacts) -> Evidence:
    """Nothing was received, in both arms."""
    return facts.evidence(CHECK.name, Standing.DECISIVE, decisions=len(facts.entry.arms))


CODE: CheckCode[Any, Any] = CheckCode(CHECK.name, evaluate=evaluate)
ANALYSIS = RoleAnalysis(Place.NOWHERE, facts_of_toy, (CODE,), lambda _: (), lambda *_: Plots())


def register(patch: pytest.MonkeyPatch) -> None:
    """Add one row to each table of roles, and one for its check."""
    for table, row in (
        (roles._OPERATIONS, "nothing"),
        (staged_case.ROLE_RUNS, ToyRun),
        (run_directory.SEALERS, sealed_toy),
        (registry.ROLE_ANALYSES, ANALYSIS),
    ):
        patch.setitem(cast(Any, table), TOY, row)
    patch.setitem(CHECKS, CHECK.name, CHECK)
    patch.setitem(registry.CODES, CHECK.name, CODE)
