"""The pass over one case about consumers: some thousands of deliveries, all of them objects."""

from collections.abc import Collection, Iterator, Sequence

from rocketdiff.analysis.case_trace import BATCH_ROWS, CaseTrace
from rocketdiff.analysis.consuming.checks.codes import CONSUMING_CODES
from rocketdiff.analysis.consuming.checks.group_check import GroupCheck
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.pictures.figures import count_figures
from rocketdiff.analysis.consuming.pictures.timeline import note_timeline
from rocketdiff.analysis.consuming.story import CaseStory, story_of
from rocketdiff.analysis.facts import CaseFact
from rocketdiff.analysis.memory import few_collections
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.checks import CHECKS


def judge_case(
    trace: CaseTrace,
    *,
    batch_rows: int = BATCH_ROWS,  # noqa: ARG001 - a case of consumers is read at once
    wanted: Collection[str] | None = None,
    is_drawn: bool = True,
) -> Iterator[CaseFact]:
    """Yield the facts of one case; see ``CasePass``."""
    codes = [code for code in CONSUMING_CODES if wanted is None or code.name in wanted]
    if not codes:
        return
    with few_collections():
        story = story_of(trace)
        facts = _observed(story, codes, with_totals=wanted is None)
        if wanted is None and (is_drawn or facts.differences()):
            note_timeline(story, facts)
    yield from facts.facts()


def _observed(story: CaseStory, codes: Sequence[GroupCheck], *, with_totals: bool) -> GroupFacts:
    if any(group.is_broadcasting for group in story.groups.values()):
        codes = [code for code in codes if CHECKS[code.name].judges_each_member]
    if any(group.polls for group in story.groups.values()):
        codes = [code for code in codes if CHECKS[code.name].judges_polls]
    facts = GroupFacts(story)
    if with_totals:
        for fault in story.trace.faults:
            facts.note(fault)
        for arm in Arm:
            facts.count(
                "calls", str(arm), "", "", n=len({(each.member, each.call) for each in story.groups[arm].deliveries})
            )
        facts.count("stored", "", "", "message", n=sum(map(len, (story.held or {}).values())))
        count_figures(story, facts)
    for code in codes:
        for observe in code.observers:
            observe(story, facts)
    return facts
