"""Groups whose members report their calls only: relays show what they pull, ask and commit, and they are judged by that."""

from collections.abc import Callable, Iterator

import pytest

from rocketdiff.core.answers.evidence import Standing
from rocketdiff.core.errors import ExitCode
from tests.analysis.consuming.bank import (
    BANK,
    COMING_AND_GOING,
    KILLED,
    MEMBER_KILLED,
    PAUSED,
    SLOW_LISTENER,
    SURPLUS,
    TWO_MEMBERS,
    Defect,
)
from tests.analysis.consuming.group_story import Group, Row, Story, client_id
from tests.analysis.consuming.simulated_group import Script, simulated
from tests.analysis.consuming.test_wire_offsets import REMEMBERED_ONLY, on_the_wire
from tests.analysis.synthetic import MS

Play = Callable[..., Story]

HOOKS = ("allocations", "owned", "offsets")

HELD_MS = 12_000
"""A broker holds the last pull of a queue for so long after the member has given it up."""

AFTERWARDS = {"offsets.committed-by-another", "pulling.not-owned", "redelivery.after-giving-up"}
"""What a member does with a queue that it has given up, or never took: only its hooks show that."""

ONE_EACH = {
    defect.signature: defect
    for defect in BANK
    if not defect.signature.startswith(("allocation.", "retries.", "takeover-time"))
    and defect.signature not in AFTERWARDS
    and str(defect) not in REMEMBERED_ONLY
}
"""By signature: of the checks that need to know who works on a queue, and can do without hooks."""

SCRIPTS = [TWO_MEMBERS, MEMBER_KILLED, COMING_AND_GOING, SURPLUS, PAUSED, KILLED, SLOW_LISTENER]


def hookless(story: Story) -> Story:
    """Take all reports of the candidate but its calls away; its relay saw what passed the wire."""
    group = story.candidate
    _answer(group)
    on_the_wire(story)
    group.wire += _ends(group)
    group.wire.sort(key=lambda row: row["in_ns"])
    for number, row in enumerate(group.wire):
        row["number"] = number
    group.owned.clear()
    group.allocations.clear()
    for life in group.members:
        life["client_id"] = None
        beat = {"member": life["member"], "number": 0, "connection": 0, "node": "broker-a", "what": "heartbeat"}
        group.wire.append(beat | {"in_ns": life["join_start_ns"], "ids": [client_id(life["member"])]})
    story.claims = tuple(claim for claim in story.claims if claim not in HOOKS)
    return story


def _answer(group: Group) -> None:
    """Brokers answer the last pull of a queue that was given up, too."""
    last = {(row["member"], row["kind"], row["broker"]): row for row in group.wire if row["what"] == "pull"}
    for row in last.values():
        if row.get("answered_ns") is None:
            work = row["kind"], row["broker"]
            over = (each["at_ns"] for each in group.owned if each["member"] == row["member"] and each["at_ns"] > row["in_ns"]
                    and work not in {(of["kind"], of["broker"]) for of in each["queues"]})  # fmt: skip
            if (until_ns := min(over, default=None)) is not None:
                row |= {"answered_ns": until_ns + HELD_MS * MS, "code": 19, "next_offset": row["offset"], "count": 0}


def _ends(group: Group) -> Iterator[Row]:
    """Yield the ends of connections of members that left or were killed."""
    for life in group.members:
        at_ns = life.get("killed_ns") or life.get("leave_end_ns")
        if at_ns is not None:
            for broker in ("broker-a", "broker-b"):
                yield {"member": life["member"], "connection": ord(broker[-1]), "node": broker, "what": "end", "in_ns": at_ns}  # fmt: skip


def without_allocation(story: Story) -> Story:
    story.checks = tuple(check for check in story.checks if check != "allocation")
    return story


@pytest.mark.parametrize("defect", [pytest.param(each, id=name) for name, each in ONE_EACH.items()])
def test_a_defect_is_found_without_hooks(defect: Defect) -> None:
    """What the wire and the calls show is enough for the verdict 1."""
    ended = without_allocation(hookless(simulated(defect.script, defect.group))).judge()
    assert defect.signature in {cluster.signature for cluster in ended.document.clusters}
    assert ended.judgement.exit_code is ExitCode.DIVERGES


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_faithful_group_is_accused_of_nothing(script: Script) -> None:
    """Its twin conforms, whatever its members and brokers go through."""
    ended = without_allocation(hookless(simulated(script))).judge()
    assert ended.document.clusters == ()
    assert ended.judgement.exit_code is ExitCode.CONFORMS


def test_shares_stay_open_without_hooks() -> None:
    """The check of them says which reports it lacks, and accuses nobody."""
    story = hookless(simulated(TWO_MEMBERS))
    (evidence,) = [each for each in story.analysis().evidence if each.check == "allocation"]
    assert (evidence.standing, evidence.divergences) == (Standing.INDECISIVE, ())
    assert evidence.reason.endswith("does not report allocations and owned")
    assert story.judge().judgement.exit_code is ExitCode.INCONCLUSIVE
