"""
``python -m maintenance.mutants``: make every small change to the rules and the judging code, and check that a test notices it.

Exit 0 if 98 % of the rules' mutants are noticed and all other mutants of the rules are in survivors.yaml, if 97 % of each other
room's mutants are noticed or listed in survivors_of_the_judge.yaml, and if every listed mutant survives.
"""

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from maintenance.mutants.corpus import all_questions
from maintenance.mutants.hunting import Fate, Hunt
from maintenance.mutants.judge_hunt import JudgeHunt
from maintenance.mutants.mutants import Mutant, all_mutants
from maintenance.mutants.rooms import ROOMS, Room

SURVIVORS = Path(__file__).with_name("survivors.yaml")
OF_THE_JUDGE = Path(__file__).with_name("survivors_of_the_judge.yaml")
RULES = "rules"

SAMPLED_EVERY = 240
"""For a sample, only every 240th question is mapped to functions, which takes a second."""

LEAST_KILLED = 0.98
"""Of all mutants, including survivors with a reason."""

LEAST_OF_THE_JUDGE = 0.97
"""Of a room's mutants: noticed, or listed with a reason. The rest only prints, or repeats another line."""

UNEXPLAINED, NOTED = "survives without a reason:", "survives:"


def explained(file: Path = SURVIVORS) -> Mapping[str, str]:
    entries = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {entry["mutant"]: entry["reason"] for entry in entries or ()}


def hunt(mutants: Sequence[Mutant], mapped_every: int) -> tuple[list[Fate], list[str]]:
    """Return all fates, and the questions that the reference answers wrongly without a mutant."""
    began = time.monotonic()

    def progress(what: str, done: int, of: int) -> None:
        if sys.stderr.isatty() or done % 100 == 0:
            sys.stderr.write(f"\r{what}: {min(done, of)} of {of}, {time.monotonic() - began:.0f} s  ")

    chase = Hunt(all_questions(), progress, mapped_every)
    wrong = [f"the reference does not answer {one.name} as {one.release}" for one in chase.unanswered]
    fates = chase.all_fates(mutants)
    sys.stderr.write("\n")
    return fates, wrong


def complaints(fates: Sequence[Fate], reasons: Mapping[str, str], known: set[str]) -> list[str]:
    """Return survivors without a reason, and reasons without a survivor."""
    survivors = {fate.mutant.name for fate in fates if fate.seen_by is None}
    seen = {fate.mutant.name: fate.seen_by for fate in fates if fate.seen_by is not None}
    return [
        *(f"{UNEXPLAINED} {name}" for name in sorted(survivors - reasons.keys())),
        *(f"listed as a survivor, but seen by {seen[name]}: {name}" for name in sorted(reasons.keys() & seen.keys())),
        *(f"listed as a survivor, but there is no such mutant: {name}" for name in sorted(reasons.keys() - known)),
    ]


def summary(fates: Sequence[Fate], reasons: Mapping[str, str]) -> str:
    count = Counter(
        "tests" if fate.seen_by == "tests" else "survivors" if fate.seen_by is None else "corpus" for fate in fates
    )
    killed = count["corpus"] + count["tests"]
    explained_ones = sum(fate.seen_by is None and fate.mutant.name in reasons for fate in fates)
    return (
        f"MUTANTS {len(fates)} killed={killed / len(fates):.2%} by-corpus={count['corpus']} by-tests={count['tests']} "
        f"survivors={count['survivors']} explained={explained_ones}"
    )


@dataclass(frozen=True, slots=True)
class Row:
    """Figures of one room of the judging code."""

    room: str
    mutants: int
    asked: int
    noticed: int
    explained: int

    @property
    def survivors(self) -> int:
        return self.asked - self.noticed

    @property
    def is_enough(self) -> bool:
        """Relative to the mutants tried; False if none was tried."""
        return self.asked > 0 and self.noticed + self.explained >= LEAST_OF_THE_JUDGE * self.asked

    def __str__(self) -> str:
        share = (self.noticed + self.explained) / (self.asked or 1)
        return f"{self.room:12} {self.mutants:7} {self.asked:7} {self.noticed:7} {self.survivors:9} {self.explained:9} {share:7.1%}"


TABLE_HEAD = "room         mutants   asked noticed survivors explained   share"


def row_of(room: str, mutants: int, fates: Sequence[Fate], reasons: Mapping[str, str]) -> Row:
    survivors = [fate.mutant.name for fate in fates if fate.seen_by is None]
    return Row(room, mutants, len(fates), len(fates) - len(survivors), sum(name in reasons for name in survivors))


def judge_room(room: Room, chosen: argparse.Namespace, until_s: float) -> tuple[Row, list[str]]:
    """Try the mutants of one room; return its figures, and errors in its list of survivors."""
    chase, reasons = JudgeHunt(room, until_s), explained(OF_THE_JUDGE)
    mutants = _chosen(chase.mutants, reasons, chosen)
    fates = chase.go_on(mutants)
    known = {mutant.name for mutant in chase.mutants}
    of_this_room = {name: reason for name, reason in reasons.items() if name.startswith(room.prefixes)}
    wrong = [line for line in complaints(fates, of_this_room, known) if not line.startswith(UNEXPLAINED)]
    survivors = [fate.mutant.name for fate in fates if fate.seen_by is None and fate.mutant.name not in reasons]
    _print_fates(fates, chosen)
    return row_of(room.name, len(mutants), fates, reasons), [*wrong, *(f"{NOTED} {name}" for name in survivors)]


def _chosen(mutants: Sequence[Mutant], reasons: Mapping[str, str], chosen: argparse.Namespace) -> list[Mutant]:
    matching = [mutant for mutant in mutants if chosen.match in mutant.name]
    if not chosen.sample:
        return matching
    tellable = [mutant for mutant in matching if mutant.name not in reasons]
    return tellable[:: max(1, len(tellable) // chosen.sample)]


def _print_fates(fates: Sequence[Fate], chosen: argparse.Namespace) -> None:
    for fate in fates if chosen.fates else ():
        sys.stdout.write(f"{fate.mutant.name}\n    {fate.seen_by or 'SURVIVES'}\n")


def judge_rules(chosen: argparse.Namespace) -> bool:
    """Try the mutants of the rules; False if a check fails."""
    reasons, everything = explained(), all_mutants()
    fates, wrong = hunt(_chosen(everything, reasons, chosen), SAMPLED_EVERY if chosen.sample else 1)
    _print_fates(fates, chosen)
    wrong += complaints(fates, reasons, {mutant.name for mutant in everything})
    sys.stdout.write("".join(f"{line}\n" for line in [*wrong, summary(fates, reasons)]))
    return not wrong and sum(fate.seen_by is not None for fate in fates) >= LEAST_KILLED * len(fates)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m maintenance.mutants", description=__doc__)
    rooms = {room.name: room for room in ROOMS}
    parser.add_argument("--room", action="append", choices=(RULES, *rooms), help="only this room; may be given again")
    parser.add_argument(
        "--sample", type=int, help="only so many mutants of a room, spread evenly, none of them an explained survivor"
    )
    parser.add_argument("--match", default="", help="only mutants whose name contains this")
    parser.add_argument("--fates", action="store_true", help="print what became of each mutant")
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="end then, and go on the next time (not the rules)"
    )
    chosen = parser.parse_args(arguments)
    names = chosen.room or [RULES, *rooms]
    well = judge_rules(chosen) if RULES in names else True
    until_s = time.monotonic() + chosen.minutes * 60
    results = [judge_room(rooms[name], chosen, until_s) for name in names if name != RULES]
    if results:
        lines = [line for _, lines in results for line in lines]
        sys.stdout.write("".join(f"{line}\n" for line in [*lines, TABLE_HEAD, *(str(row) for row, _ in results)]))
        well &= all(row.is_enough for row, _ in results) and all(line.startswith(NOTED) for line in lines)
    return int(not well)


if __name__ == "__main__":
    sys.exit(main())
