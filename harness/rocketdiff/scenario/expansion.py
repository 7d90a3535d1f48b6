"""Pure expansion of a scenario and a seed into the exact work of a case, the same for both arms."""

from rocketdiff.core.case import CaseId
from rocketdiff.core.sends.plan import Plan
from rocketdiff.core.subject import SubjectId
from rocketdiff.scenario.consuming.plan import feeding_plan
from rocketdiff.scenario.model import Case, Scenario
from rocketdiff.scenario.sending.plan import sending_plan
from rocketdiff.scenario.stretch import stretched


def expand(
    scenario: Scenario, baseline: SubjectId, candidate: SubjectId, seed: int, attempt_timeout_ms: int = 0
) -> Case:
    """
    Return the case of a scenario for two subjects.

    attempt_timeout_ms: the longer one of the two (see ``stretch``); nothing else of the subjects affects the plan.
    """
    longer = stretched(scenario, attempt_timeout_ms)
    longest_ms = attempt_timeout_ms if attempt_timeout_ms > scenario.settings.send_msg_timeout_ms else 0
    case_id = CaseId(scenario.name, baseline, candidate)
    return Case(case_id, longer, plan_of(longer, seed), attempt_timeout_ms=longest_ms)


def plan_of(scenario: Scenario, seed: int) -> Plan:
    """Return the sends of a scenario. Random numbers depend on seed and name, so a new scenario changes no other plan."""
    if scenario.group is not None:
        return feeding_plan(scenario.workload, scenario.name, seed, scenario.queues_per_broker)
    return sending_plan(scenario.workload, scenario.name, seed)
