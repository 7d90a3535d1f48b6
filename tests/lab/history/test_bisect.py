"""Releases at which a script's answer changes."""

from rocketdiff.lab.history.bisect import bisect, bisect_data, bisect_lines, edges_between
from rocketdiff.lab.history.lineage import Edge, every_edge
from rocketdiff.simulation.script import NamedScript
from tests.lab.history.toys import SCRIPT, by_table, select_line, toy_executions

ONE = NamedScript("one", SCRIPT)
RUNNER = by_table({"one": dict.fromkeys(("4.9.8", "5.1.4", "5.2.0"), 1)})


def test_every_turn_is_found() -> None:
    """Every change is found, also one back; 5.0.0 is compared with 4.9.4."""
    turns = bisect(toy_executions(RUNNER), ONE, every_edge())
    assert [turn.edge for turn in turns] == [Edge("4.9.7", "4.9.8"), Edge("5.1.3", "5.1.4"), Edge("5.2.0", "5.3.0")]


def test_a_turn_has_both_answers() -> None:
    """A change has both answers and the first differing line."""
    (turn,) = bisect(toy_executions(RUNNER), ONE, edges_between("5.1.0", "5.2.0"))
    assert (turn.before, turn.after) == ((select_line("one", 0),), (select_line("one", 1),))
    assert turn.difference.lines == (select_line("one", 0), select_line("one", 1))


def test_one_end_alone_leads_to_the_oldest_or_newest() -> None:
    """Without ``--to`` the path ends at the newest release, without ``--from`` at the oldest."""
    assert edges_between("5.3.3", None) == (Edge("5.3.3", "5.4.0"), Edge("5.4.0", "5.5.0"))
    assert edges_between(None, "4.1.0-incubating") == (Edge("4.0.0-incubating", "4.1.0-incubating"),)
    assert edges_between(None, None) == every_edge()


def test_text_for_people_and_data_for_programs() -> None:
    """Text and data have the same changes."""
    edges = edges_between("5.1.3", "5.1.4")
    turns = bisect(toy_executions(RUNNER), ONE, edges)
    lines = list(bisect_lines(ONE, turns, edges))
    assert lines[0] == "one: 1 change at 1 steps between releases"
    assert lines[1] == "5.1.3 → 5.1.4, step 0, queue: queue 0 of a → queue 1 of a"
    data = bisect_data(ONE, turns, edges)
    answers = {"before": [select_line("one", 0)], "after": [select_line("one", 1)]}
    assert data["edges"] == [{"from": "5.1.3", "to": "5.1.4", "side": False, "line": 0, **answers}]
