"""A difference comes with a small script, its step and its rule."""

import json
from pathlib import Path

from rocketdiff.lab.fuzz.differences import SharedDialect, differences
from rocketdiff.lab.fuzz.lockstep import name_of, script_of
from rocketdiff.lab.fuzz.shrunk_difference import GONE, kind_of, shrunk_difference
from rocketdiff.simulation.script import Depth, parse_script
from rocketmq_reference.dialects import dialect_of
from tests.lab.fuzz.old_walk import with_the_old_walk
from tests.lab.fuzz.toy_host import ToyHost

HOST = ToyHost(with_the_old_walk)
NAME = name_of(Depth.SELECTION, 1)


def test_a_difference_becomes_a_small_script(tmp_path: Path) -> None:
    """The old and new walk differ in a script of at most three steps, which is saved."""
    scripts = [(NAME, parse_script(script_of(NAME), NAME))]
    (found,) = differences(HOST, scripts, [SharedDialect(dialect_of("5.3.3"), ("5.3.3",))])
    evidence = shrunk_difference(found, HOST)
    assert len(evidence.script["steps"]) <= 3
    assert evidence.script["steps"][-1]["do"] == "select"
    assert json.loads(evidence.save(tmp_path).read_text()) == evidence.script
    assert any("differs in the" in sentence for sentence in evidence.sentences())
    assert any("available_then_reachable_then_any" in sentence for sentence in evidence.sentences())
    assert evidence.as_data()["found"]["release"] == "5.3.3"


def test_a_failing_host_is_reported() -> None:
    """A failing host is reported without a line analysis."""
    broken = ToyHost(broken=("5.3.3",))
    scripts = [(NAME, parse_script(script_of(NAME), NAME))]
    (found,) = differences(broken, scripts, [SharedDialect(dialect_of("5.3.3"), ("5.3.3",))])
    evidence = shrunk_difference(found, broken)
    assert any("a host that works" in word for word in evidence.words)


def test_a_gone_difference_is_reported() -> None:
    """A difference that does not recur is reported as gone."""
    scripts = [(NAME, parse_script(script_of(NAME), NAME))]
    (found,) = differences(HOST, scripts, [SharedDialect(dialect_of("5.3.3"), ("5.3.3",))])
    assert shrunk_difference(found, ToyHost()).words == (GONE,)


def test_a_script_that_both_refuse_is_no_difference() -> None:
    """A script that both sides refuse is no difference; shrinking keeps the kind of difference."""
    answer = '{"script": "S", "step": 0, "select": {"broker": "a", "queue_id": 0}}'
    assert kind_of(["failed: a"], ["raised UsageError: b"]) is None
    assert kind_of([answer], [answer]) is None
    assert kind_of(["failed: a"], [answer]) != kind_of([answer], ["raised KeyError: b"])
    assert kind_of([answer], [answer.replace("0}", "1}")]) == "queue"
