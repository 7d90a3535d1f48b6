"""A group whose members report no offsets: its relays show queries and commits, and what they decide is judged by these."""

from collections.abc import Callable

import pytest

from rocketdiff.core.errors import ExitCode
from tests.analysis.consuming import orderly_bank
from tests.analysis.consuming.bank import BANK, Defect
from tests.analysis.consuming.group_story import Group, Story
from tests.analysis.consuming.orderly_group import in_order
from tests.analysis.consuming.simulated_group import Script, simulated

Play = Callable[..., Story]

REMEMBERED_ONLY = {"CommitsLateAtGivingUp", "GivesUpWithoutACommit", "LeavesWithoutACommit", "RemembersEarly"}
"""Defects that only the client's own memory shows: it is not on the wire."""

ONE_EACH = {
    defect.signature: (play, defect)
    for play, bank in ((simulated, BANK), (in_order, orderly_bank.BANK))
    for defect in bank
    if defect.signature.startswith(("redelivery.", "offsets.")) and str(defect) not in REMEMBERED_ONLY
}
"""By signature, which is enough for what the wire shows."""


def on_the_wire(story: Story) -> Story:
    """Take the reports of the candidate's offsets away; its relay saw what passed the wire."""
    show(story.candidate)
    story.claims = tuple(claim for claim in story.claims if claim != "offsets")
    return story


def show(group: Group) -> None:
    for row in group.offsets:
        exchange = {
            "member": row["member"],
            "number": len(group.wire),
            "connection": ord(row["broker"][-1]),
            "node": row["broker"],
            "in_ns": row["at_ns"] - 1_000_000 * (row["what"] == "query"),
            "kind": row["kind"],
            "broker": row["broker"],
            "queue_id": row["queue_id"],
            "what": row["what"],
            "answered_ns": row["at_ns"],
            "code": 22 if row["value"] == -1 else 0,
            "offset": None if row["value"] == -1 else row["value"],
        }
        if row["what"] in ("query", "commit") and row["value"] is not None and row["value"] >= -1:
            group.wire.append(exchange)
    group.wire.sort(key=lambda row: row["in_ns"])
    group.offsets.clear()


@pytest.mark.parametrize(("play", "defect"), [pytest.param(*each, id=name) for name, each in ONE_EACH.items()])
def test_a_defect_is_found_without_reports_of_offsets(play: Play, defect: Defect) -> None:
    """What the wire shows is enough for the verdict 1."""
    ended = on_the_wire(play(defect.script, defect.group)).judge()
    assert defect.signature in {cluster.signature for cluster in ended.document.clusters}
    assert ended.judgement.exit_code is ExitCode.DIVERGES


@pytest.mark.parametrize(
    ("play", "script"),
    [
        pytest.param(play, script, id=f"{play.__name__} {script!r}")
        for play, script in dict.fromkeys((play, defect.script) for play, defect in ONE_EACH.values())
    ],
)
def test_its_twin_conforms(play: Play, script: Script) -> None:
    """A faithful group is accused of nothing, and nothing about it stays open."""
    ended = on_the_wire(play(script)).judge()
    assert ended.document.clusters == ()
    assert ended.judgement.exit_code is ExitCode.CONFORMS
