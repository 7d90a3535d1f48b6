"""What the checks about groups have in common: how they read a case, and their evidence."""

from collections.abc import Callable

from rocketdiff.analysis.checks.case_facts import UNDECIDED_BOUND, CaseFacts, standing_with
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.story import CaseStory
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.arm import Arm

GroupObserver = Callable[[CaseStory, GroupFacts], None]
"""Reads a case once and writes facts."""

GroupCheck = CheckCode[GroupObserver, None]

JUDGED, UNDECIDED = "judged", "undecided"
"""Tallies: what a check has looked at, and how much of it the rules leave open."""


def evidence_of(facts: CaseFacts, check: str, lacking: str) -> Evidence:
    """
    Evidence of an exact check, decisive if something was judged in both groups.

    lacking: the reason otherwise, with ``{}`` for the subject. A group that never settled shows nothing, whoever is to blame.
    """
    unsettled = [guard for guard in facts.entry.broken_guards if guard.name.startswith(GROUP_GUARDS)]
    if unsettled:
        reason = "; ".join(guard.why_broken for guard in unsettled)
        return facts.evidence(check, Standing.INVALID, reason)
    seen = {arm: facts.n(check, JUDGED, arm=str(arm)) for arm in Arm}
    standing, reason = standing_with(facts, seen, lacking)
    for arm, judged in seen.items():
        undecided = facts.n(check, UNDECIDED, arm=str(arm))
        if standing is Standing.DECISIVE and undecided > judged * UNDECIDED_BOUND:
            standing = Standing.INDECISIVE
            reason = f"the rules leave {undecided} of {judged} open for {facts.subjects[arm]}"
    return facts.evidence(check, standing, reason, decisions=sum(seen.values()))


GROUP_GUARDS = ("settled-", "served-", "fed", "together", "member-")
"""Prefixes of guards without which no difference of two groups can be attributed to a client."""
