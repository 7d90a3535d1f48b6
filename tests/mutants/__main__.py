"""
``python -m tests.mutants``: change the rules in every small way there is, and see whether the corpus notices.

Exit 0 when every mutant that survives is listed in survivors.yaml with a reason, and every entry there is one that survives.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from tests.mutants.corpus import all_questions
from tests.mutants.hunting import Fate, Hunt
from tests.mutants.mutants import Mutant, all_mutants

SURVIVORS = Path(__file__).with_name("survivors.yaml")

SAMPLED_EVERY = 12
"""Questions of which one is looked at for what it reaches, when there are few mutants: a quarter of a minute."""

LEAST_KILLED = 0.98
"""Of all mutants, those with a good reason to survive included."""


def explained(file: Path = SURVIVORS) -> Mapping[str, str]:
    """Reason by name of the mutant."""
    entries = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {entry["mutant"]: entry["reason"] for entry in entries}


def hunt(mutants: Sequence[Mutant], mapped_every: int) -> tuple[list[Fate], list[str]]:
    """The fate of each mutant, and what is wrong with the questions."""
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
    """What must not be: survivors without a reason, and reasons without a survivor."""
    survivors = {fate.mutant.name for fate in fates if fate.seen_by is None}
    seen = {fate.mutant.name: fate.seen_by for fate in fates if fate.seen_by is not None}
    return [
        *(f"survives without a reason: {name}" for name in sorted(survivors - reasons.keys())),
        *(f"listed as a survivor, but seen by {seen[name]}: {name}" for name in sorted(reasons.keys() & seen.keys())),
        *(f"listed as a survivor, but there is no such mutant: {name}" for name in sorted(reasons.keys() - known)),
    ]


def summary(fates: Sequence[Fate], reasons: Mapping[str, str]) -> str:
    """The figures in one line."""
    count = Counter(
        "tests" if fate.seen_by == "tests" else "survivors" if fate.seen_by is None else "corpus" for fate in fates
    )
    killed = count["corpus"] + count["tests"]
    explained_ones = sum(fate.seen_by is None and fate.mutant.name in reasons for fate in fates)
    return (
        f"MUTANTS {len(fates)} killed={killed / len(fates):.2%} by-corpus={count['corpus']} by-tests={count['tests']} "
        f"survivors={count['survivors']} explained={explained_ones}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Hunt, print, judge."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument(
        "--sample", type=int, help="only so many mutants, spread evenly, none of them an explained survivor"
    )
    parser.add_argument("--match", default="", help="only mutants whose name contains this")
    parser.add_argument("--fates", action="store_true", help="print what became of each mutant")
    chosen = parser.parse_args(arguments)
    reasons, everything = explained(), all_mutants()
    mutants = [mutant for mutant in everything if chosen.match in mutant.name]
    if chosen.sample:
        tellable = [mutant for mutant in mutants if mutant.name not in reasons]
        mutants = tellable[:: max(1, len(tellable) // chosen.sample)]
    fates, wrong = hunt(mutants, SAMPLED_EVERY if chosen.sample else 1)
    if chosen.fates:
        for fate in fates:
            sys.stdout.write(f"{fate.mutant.name}\n    {fate.seen_by or 'SURVIVES'}\n")
    wrong += complaints(fates, reasons, {mutant.name for mutant in everything})
    sys.stdout.write("".join(f"{line}\n" for line in [*wrong, summary(fates, reasons)]))
    enough = sum(fate.seen_by is not None for fate in fates) >= LEAST_KILLED * len(fates)
    return int(bool(wrong) or not enough)


if __name__ == "__main__":
    sys.exit(main())
