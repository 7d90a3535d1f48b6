"""The mutants of the rules: their names, one change each, and a sample of the hunt."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from maintenance.mutants.__main__ import complaints, explained, summary
from maintenance.mutants.hunting import Fate
from maintenance.mutants.mutants import Mutant, all_mutants, file_of, module_names

ROOT = Path(__file__).parents[3]
SAMPLE = ("--match", "queue_choice.", "--sample", "2")
"""A constant, which loads the rules anew, and lines of functions, changed in place; ``make mutants`` runs them all."""


@pytest.fixture(scope="module")
def mutants() -> list[Mutant]:
    """All mutants of the rules, which takes a second."""
    return all_mutants()


def test_every_module_of_the_rules_has_mutants(mutants: list[Mutant]) -> None:
    """Mutant names are unique, and every module of the rules has mutants, but those that are types without code."""
    assert len({mutant.name for mutant in mutants}) == len(mutants)
    assert {mutant.module for mutant in mutants} == set(module_names()) - {
        "rocketmq_reference.rules.dialect",
        "rocketmq_reference.rules.consumer.allocation_rules",
        "rocketmq_reference.rules.consumer.consumer_rules",
        "rocketmq_reference.rules.consumer.lite_pull_rules",
    }


def test_a_mutant_is_one_change(mutants: list[Mutant]) -> None:
    """The source of a mutant (every 50th is tried) differs from the original and compiles."""
    for mutant in mutants[::50]:
        original = ast.parse(file_of(mutant.module).read_text(encoding="utf-8"))
        assert ast.dump(mutant.tree()) != ast.dump(original)
        compile(mutant.tree(), mutant.module, "exec")


def test_a_survivor_needs_a_reason(mutants: list[Mutant]) -> None:
    """A survivor without a reason is reported, and so is a listed mutant that is noticed or does not exist."""
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
    """The summary counts mutants noticed by scripts, mutants noticed by tests, and survivors."""
    names: list[Mutant] = mutants[:4]
    seen_by = ("script", "tests", "script", None)
    fates = [Fate(mutant, seen) for mutant, seen in zip(names, seen_by, strict=True)]
    assert summary(fates, {}) == "MUTANTS 4 killed=75.00% by-corpus=2 by-tests=1 survivors=1 explained=0"


def test_every_reason_is_a_sentence() -> None:
    """Every reason in survivors.yaml has at least four words."""
    assert all(len(reason.split()) >= 4 for reason in explained().values())


@pytest.mark.slow
def test_a_sample_of_mutants_is_noticed() -> None:
    """Every sampled mutant of the rules is noticed; ``make mutants`` also tries the judge's rooms, minutes each."""
    command = [sys.executable, "-m", "maintenance.mutants", "--room", "rules", *SAMPLE]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    counted = re.search(r"^MUTANTS (\d+) .* survivors=(\d+) explained=(\d+)$", done.stdout, re.MULTILINE)
    assert counted, done.stdout + done.stderr[-2_000:]
    assert int(counted[1]) >= 2
    assert counted[2] == counted[3], done.stdout + done.stderr[-2_000:]
