"""
The questions put to a mutant: scripts that the real Java classes have answered.

Answers of standard scripts are stored as text, of random ones as digests of traces. A question notices a mutant if the
reference gives another answer or raises an exception.
"""

import importlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

from rocketdiff.lab.fuzz.differences import behaviours
from rocketdiff.lab.fuzz.golden_digests import digest_of, load_golden_digests
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.simulation.golden.files import load_golden
from rocketdiff.simulation.golden.standard import load_standard
from rocketdiff.simulation.script import Depth, Script

Function = tuple[str, str]
"""A module, and the qualified name of a function in it."""

RULES = "rocketmq_reference.rules."


@dataclass(frozen=True, slots=True)
class Question:
    """A script for the dialect of a release, and the digest of the answer of that release's classes."""

    name: str
    release: str
    script: Script
    digest: str
    is_traced: bool


def all_questions() -> list[Question]:
    """Return every script, once per group of releases that behave alike at its depth."""
    return [*_random_scripts(), *_standard_scripts()]


def _random_scripts() -> Iterator[Question]:
    groups = {depth: behaviours(client_releases(), depth) for depth in Depth}
    for golden in load_golden_digests():
        script = golden.script()
        for group in groups[golden.depth]:
            release = group.releases[0]
            yield Question(golden.name, release, script, golden.answers[release], is_traced=True)


def _standard_scripts() -> Iterator[Question]:
    groups = {depth: behaviours(client_releases(), depth) for depth in Depth}
    golden = load_golden()
    for standard in load_standard():
        for group in groups[standard.depth]:
            answer = golden[standard.name].of(group.releases[0])
            if answer is not None:
                digest = digest_of(answer.lines)
                yield Question(standard.name, group.releases[0], standard.script, digest, is_traced=False)


def is_answered(question: Question) -> bool:
    try:
        reference: Any = importlib.import_module("rocketdiff.simulation.virtual")
        dialect = reference.dialect_for(question.script, question.release)
        lines = reference.run_reference(dialect, question.name, question.script, trace=question.is_traced)
    except Exception:  # noqa: BLE001 - a mutant may raise anything, which counts as noticed
        return False
    return digest_of(lines) == question.digest


def functions_used(question: Question) -> tuple[bool, frozenset[Function]]:
    called: set[Any] = set()

    def note(frame: FrameType, _event: str, _argument: object) -> None:
        called.add(frame.f_code)

    before = sys.gettrace()
    sys.settrace(note)
    try:
        answered = is_answered(question)
    finally:
        sys.settrace(before)
    return answered, frozenset(_functions(called))


def _functions(codes: set[Any]) -> Iterator[Function]:
    for code in codes:
        _, found, file = code.co_filename.rpartition("/rocketmq_reference/rules/")
        if found:
            yield RULES + file.removesuffix(".py").replace("/", "."), code.co_qualname.partition(".<locals>")[0]


def by_function(used: Mapping[int, frozenset[Function]]) -> dict[Function, list[int]]:
    """Return the numbers of the questions that call each function."""
    numbers: dict[Function, list[int]] = {}
    for number, functions in used.items():
        for function in functions:
            numbers.setdefault(function, []).append(number)
    return numbers
