"""The mutants of the rules: how they are named, that each is one change, and a sample of the whole hunt."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.__main__ import complaints, explained, summary
from tests.mutants.hunting import Fate
from tests.mutants.mutants import Mutant, all_mutants, file_of, module_names

ROOT = Path(__file__).parents[2]
SAMPLE = 6
"""Spread evenly over all mutants of the rules; some ten seconds. ``make mutants`` hunts them all."""


@pytest.fixture(scope="module")
def mutants() -> list[Mutant]:
    """All of the rules, a second's work."""
    return all_mutants()


def test_every_module_of_the_rules_has_mutants(mutants: list[Mutant]) -> None:
    """Names are unique, and every module with something to decide is represented."""
    assert len({mutant.name for mutant in mutants}) == len(mutants)
    assert {mutant.module for mutant in mutants} == set(module_names())


def test_a_mutant_is_one_change(mutants: list[Mutant]) -> None:
    """Its source differs from the original's, and it can be compiled; for one mutant in fifty."""
    for mutant in mutants[::50]:
        original = ast.parse(file_of(mutant.module).read_text(encoding="utf-8"))
        assert ast.dump(mutant.tree()) != ast.dump(original)
        compile(mutant.tree(), mutant.module, "exec")


def test_a_survivor_needs_a_reason(mutants: list[Mutant]) -> None:
    """And a reason needs a survivor: one that is seen through, or gone, is a complaint."""
    first, second = mutants[:2]
    fates = [Fate(first, None), Fate(second, "a script")]
    known = {first.name, second.name}
    assert complaints(fates, {first.name: "equivalent"}, known) == []
    assert complaints(fates, {}, known) == [f"survives without a reason: {first.name}"]
    assert complaints(fates, {first.name: "", second.name: "", "gone": ""}, known) == [
        f"listed as a survivor, but seen by a script: {second.name}",
        "listed as a survivor, but there is no such mutant: gone",
    ]


def test_the_summary_counts_who_noticed(mutants: list[Mutant]) -> None:
    """Scripts first, then tests, then nobody."""
    names: list[Mutant] = mutants[:4]
    seen_by = ("script", "tests", "script", None)
    fates = [Fate(mutant, seen) for mutant, seen in zip(names, seen_by, strict=True)]
    assert summary(fates, {}) == "MUTANTS 4 killed=75.00% by-corpus=2 by-tests=1 survivors=1 explained=0"


def test_every_reason_is_a_sentence() -> None:
    """Nobody is excused by a word."""
    assert all(len(reason.split()) >= 4 for reason in explained().values())


@pytest.mark.slow
def test_a_sample_of_mutants_is_noticed() -> None:
    """None of the sample lives on. The judge's rooms take minutes each to map: ``make mutants``."""
    command = [sys.executable, "-m", "tests.mutants", "--room", "rules", "--sample", str(SAMPLE)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    counted = re.search(r"^MUTANTS (\d+) .* survivors=(\d+) explained=(\d+)$", done.stdout, re.MULTILINE)
    assert counted, done.stdout + done.stderr[-2_000:]
    assert int(counted[1]) >= SAMPLE
    assert counted[2] == counted[3], done.stdout + done.stderr[-2_000:]
