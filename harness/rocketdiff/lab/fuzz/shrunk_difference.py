"""Shrinks and explains a difference found by fuzzing."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rocketdiff.core.errors import HarnessError
from rocketdiff.core.subject import REFERENCE, STANDARD, SubjectId
from rocketdiff.lab.fuzz.differences import FAILED, RAISED, FuzzDifference, FuzzHost, reference_lines, spoken_lines
from rocketdiff.lab.fuzz.lockstep import script_of
from rocketdiff.lab.fuzz.shrink import shrink
from rocketdiff.simulation import comparison
from rocketdiff.simulation.comparison import difference_lines, rules_behind, with_initial_state
from rocketdiff.simulation.java_host import Job
from rocketdiff.simulation.script import parse_script, to_dict
from rocketdiff.simulation.script.model import NamedScript
from rocketdiff.simulation.virtual import dialect_for

GONE = "the difference was not there a second time"


@dataclass(frozen=True, slots=True)
class ShrunkDifference:
    """The smallest script and its difference in words; found: the difference in the original random script."""

    found: FuzzDifference
    script: dict[str, Any]
    words: tuple[str, ...]

    def sentences(self) -> Iterator[str]:
        yield f"{SubjectId(STANDARD, self.found.release)} and the reference ({self.found.dialect}) differ in {self.found.script}; the smallest script:"
        yield f"  {json.dumps(self.script, ensure_ascii=False)}"
        yield from (f"  {line}" for line in self.words)

    def as_data(self) -> dict[str, Any]:
        return {"found": asdict(self.found), "script": self.script, "words": self.words}

    def save(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self.found.script}-{self.found.release}.json"
        file.write_text(json.dumps(self.script, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return file


def shrunk_difference(found: FuzzDifference, host: FuzzHost) -> ShrunkDifference:
    """Shrink the script of a difference; a difference that does not recur is reported as gone."""

    def sides(script: dict[str, Any]) -> tuple[list[str], list[str]]:
        return _sides(found, NamedScript(found.script, parse_script(script, found.script)), host)

    unshrunk = script_of(found.script)
    kind = kind_of(*sides(unshrunk))
    if kind is None:
        return ShrunkDifference(found, unshrunk, (GONE,))
    # Require the same kind, so that shrinking does not move to another difference.
    small = to_dict(parse_script(shrink(unshrunk, lambda script: kind_of(*sides(script)) == kind), found.script))
    return ShrunkDifference(found, small, tuple(_words(found, small, *sides(small))))


def kind_of(java: list[str], reference: list[str]) -> str | None:
    """Return the kind of the difference; None if the answers are equal or both sides refuse the script."""
    failed = [bool(lines) and lines[-1].startswith((FAILED, RAISED)) for lines in (java, reference)]
    if java == reference or all(failed):
        return None
    if any(failed):
        return FAILED if failed[0] else RAISED
    difference = comparison.first_difference("", java, reference)
    return None if difference is None else str(difference.compared)


def _sides(found: FuzzDifference, script: NamedScript, host: FuzzHost) -> tuple[list[str], list[str]]:
    (finished,) = host.finish_all([Job(found.release, script.name, script.script, trace=True)])
    return spoken_lines(finished), reference_lines(
        dialect_for(script.script, found.release), script.name, script.script
    )


def _words(found: FuzzDifference, script: dict[str, Any], java: list[str], reference: list[str]) -> Iterator[str]:
    """The difference as ``simulate`` prints it, or both last lines if one side failed."""
    named = NamedScript(found.script, parse_script(script, found.script))
    try:
        difference = comparison.first_difference(found.script, java, reference)
    except HarnessError:
        yield f"java      {java[-1:]}"
        yield f"reference {reference[-1:]}"
        return
    assert difference is not None, "the script was shrunk while the two differed"
    rules = rules_behind(named, difference, found.release, found.release, list)
    difference = with_initial_state(named, difference, found.release)
    yield from difference_lines(
        replace(difference, rules=rules), *(f"{client}:{found.release}" for client in (STANDARD, REFERENCE))
    )
