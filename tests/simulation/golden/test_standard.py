"""The committed standard set, and the refusal of a broken one."""

import json
import re
from pathlib import Path

import pytest

from rocketdiff.core.errors import HarnessError
from rocketdiff.core.resources import resource
from rocketdiff.simulation.golden.files import load_golden
from rocketdiff.simulation.golden.standard import SCRIPTS, StandardScript, load_standard, read_standard, up_to
from rocketdiff.simulation.script import Depth, parse_script, to_dict
from rocketdiff.simulation.script.roles import ROLE_DEPTHS

ROWS = (
    *(f"A{number}" for number in range(1, 6)),
    *(f"B{number}" for number in range(1, 12)),
    *(f"D{number}" for number in range(1, 4)),
)
CHANGES = tuple(f"C{number:02}" for number in range(1, 76))
SCRIPT = '{"format": 1, "route": {"a": 1}, "steps": [{"do": "select"}]}'
WORDS = "one:\n  rows: [A1]\n  shows: x\n  matters: y\n  answers: {4.0.0-incubating: z}\n"


def test_every_row_of_selection_and_avoidance_has_a_script() -> None:
    """Rows A1 to A5, B1 to B11 and D1 to D3 have scripts."""
    covered = {row for one in load_standard() for row in one.about.rows}
    assert [row for row in ROWS if row not in covered] == []


def test_every_change_between_releases_has_a_script_or_a_reason() -> None:
    """The producer's changes C01 to C75 each have a script, or a reason in the README."""
    covered = {row for one in load_standard() for row in one.about.rows}
    table = (
        line for line in resource("fixtures/simulation/README.md").read_text("utf-8").splitlines() if "| C" in line
    )
    explained = {row for line in table for row in re.findall(r"C\d\d", line.split("|")[1])}
    assert sorted(explained) == [row for row in CHANGES if row not in covered]


def test_every_depth_has_scripts() -> None:
    """Every depth has scripts, sorted by depth and name."""
    order = list(Depth)
    keys = [(order.index(one.depth), one.name) for one in load_standard()]
    assert keys == sorted(keys)
    assert {one.depth for one in load_standard()} == set(Depth)


@pytest.mark.parametrize("file", sorted(resource(SCRIPTS).glob("*.json")), ids=lambda file: file.stem)
def test_scripts_are_written_canonically(file: Path) -> None:
    """Scripts are in canonical form."""
    data = json.loads(file.read_text("utf-8"))
    canonical = to_dict(parse_script(data, file.stem))
    assert data == canonical
    assert list(data) == list(canonical)


def test_both_kinds_of_expired_waits_are_there() -> None:
    """Scripts cover waits that end at their deadline, and 1 ms later."""
    silent = [one for one in load_standard() if "silent" in one.name]
    assert {one.script.expired_wait_extra_ms for one in silent} == {0, 1}


def test_scripts_that_follow_form_no_circle() -> None:
    """The scripts that a script follows form no circle, which would hide every change."""
    follows = {one.name: one.about.follows for one in load_standard()}

    def leads_to_itself(name: str, path: tuple[str, ...]) -> bool:
        return name in path or any(leads_to_itself(other, (*path, name)) for other in follows[name])

    assert not [name for name in follows if leads_to_itself(name, ())]


def test_the_set_of_a_depth_includes_shallower_ones() -> None:
    """The set of a depth includes those of shallower depths of its role, and no others."""
    deepest = 0
    for depths in ROLE_DEPTHS.values():
        sizes = [len(up_to(depth, load_standard())) for depth in depths.order]
        assert sizes == sorted(set(sizes))
        deepest += sizes[-1]
    assert deepest == len(load_standard())


def read(folder: Path, words: str) -> tuple[StandardScript, ...]:
    """A set of one script."""
    for name in ("scripts", "about"):
        (folder / name).mkdir()
    (folder / "scripts" / "one.json").write_text(SCRIPT)
    (folder / "about" / "words.yaml").write_text(words)
    return read_standard(folder / "scripts", folder / "about")


def test_a_set_is_read(tmp_path: Path) -> None:
    """A set has scripts and their words."""
    (one,) = read(tmp_path, WORDS)
    assert (one.name, one.depth, one.about.rows) == ("one", Depth.SELECTION, ("A1",))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (WORDS.replace("one:", "two:"), "one, two"),
        (WORDS.replace("  matters: y\n", ""), "matters"),
        ("- one", "list"),
    ],
)
def test_a_broken_set_is_refused(tmp_path: Path, words: str, message: str) -> None:
    """A broken set is refused with the reason."""
    with pytest.raises(HarnessError, match=message):
        read(tmp_path, words)


def test_words_in_two_places_are_refused(tmp_path: Path) -> None:
    """Words in two files are refused."""
    (tmp_path / "about").mkdir()
    (tmp_path / "about" / "again.yaml").write_text(WORDS)
    (tmp_path / "about" / "words.yaml").write_text(WORDS)
    with pytest.raises(HarnessError, match="again"):
        read_standard(tmp_path / "scripts", tmp_path / "about")


@pytest.mark.parametrize("one", load_standard(), ids=lambda one: one.name)
def test_every_answer_has_words(one: StandardScript) -> None:
    """Each golden group has words under its first release, and nothing else has."""
    groups = load_golden()[one.name].groups
    assert list(one.about.answers) == [group.releases[0] for group in groups]
