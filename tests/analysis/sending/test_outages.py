"""Counting outages by situation, if both arms met them."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.analysis.run_analysis import analyze
from rocketdiff.core.answers.evidence import SpellCount
from rocketdiff.core.run_info import Guard
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.synthetic import Pause, Story

NewRun = Callable[..., RunDirectory]
OFF = Story(name="off", settings=ClientSettings(send_msg_timeout_ms=300), sends=300)
ON = Story(name="on", sends=300)
LONE, EVERY = (f"{which}" for which in ("one of several brokers", "every broker"))


@pytest.mark.parametrize(
    ("pauses", "outages"),
    [
        (
            (Pause("broker-b", 1_000, 600), Pause("broker-a", 2_500, 600)),
            (SpellCount(f"fault latency off, {LONE}", 2),),
        ),
        (
            (Pause("broker-b", 1_000, 600), Pause("broker-a", 1_300, 600)),
            (SpellCount(f"fault latency off, {EVERY}", 1),),
        ),
        (
            (Pause("broker-b", 1_000, 600), Pause("broker-b", 9_000, 600)),
            (SpellCount(f"fault latency off, {LONE}", 1),),
        ),
    ],
)
def test_overlapping_pauses_are_one_spell(
    pauses: tuple[Pause, ...], outages: tuple[SpellCount, ...], new_run: NewRun
) -> None:
    """Overlapping pauses are one outage; a pause after the last send (6 s) does not count."""
    run = new_run([replace(OFF, pauses=pauses)])
    assert analyze([run.path], master=WITHOUT_SPARK).counts.spells == outages


def test_situations_are_counted_apart(new_run: NewRun) -> None:
    """Outages with fault latency on and off are counted separately."""
    run = new_run([replace(OFF, pauses=(Pause("broker-b", 1_000, 600),)), ON])
    assert analyze([run.path], master=WITHOUT_SPARK).counts.spells == (
        SpellCount(f"fault latency off, {LONE}", 1),
        SpellCount(f"fault latency on, {LONE}", 1),
    )


def test_a_case_whose_set_up_did_not_hold_has_no_spells(new_run: NewRun) -> None:
    """A case whose set-up did not hold has no outages."""
    run = new_run([ON], complete=False)
    run.case(1).complete(guards=(Guard("fault-on-time", held=False, expected="in time", seen="2.2 s late"),))
    assert analyze([run.path], master=WITHOUT_SPARK).counts.spells == ()
