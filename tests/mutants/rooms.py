"""The rooms of the judging code that are mutated, and the tests that each room's mutants are put to."""

from dataclasses import dataclass

from tests.mutants.mutants import WITH_ENUMERATIONS, Mutant, all_mutants, module_names

ANALYSIS_TESTS = ("tests/analysis", "tests/test_older_run.py")

ORACLE_TESTS = (
    "tests/oracle",
    "tests/analysis/checks/test_async_under_a_pause.py",
    "tests/analysis/checks/test_modes_under_a_pause.py",
    "tests/test_examples.py",
)
"""Asynchronous retries, and how a decision is told, are judged with whole cases."""


@dataclass(frozen=True, slots=True)
class Room:
    """Some modules, and the folders and files of the tests that judge them; live tests in there are left out."""

    name: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def prefixes(self) -> tuple[str, ...]:
        """What the names of its mutants begin with."""
        return tuple(f"{module.removeprefix('harness.')}{mark}" for module in self.modules for mark in ".:")

    def mutants(self) -> list[Mutant]:
        """In the order of the modules and their source."""
        return all_mutants(self.modules, WITH_ENUMERATIONS)


def _modules(package: str) -> tuple[str, ...]:
    return tuple(module_names(package))


ROOMS = (
    Room("guards", ("harness.guards",), ("tests/test_guards.py", "tests/test_guards_in_full.py")),
    Room(
        "verdict",
        _modules("harness.verdict"),
        ("tests/verdict", "tests/test_ledgers.py", "tests/test_ledger_pruning.py"),
    ),
    Room("oracle", _modules("harness.oracle"), ORACLE_TESTS),
    Room("steps", _modules("harness.analysis.steps"), ANALYSIS_TESTS),
    Room("checks", _modules("harness.analysis.checks"), ANALYSIS_TESTS),
    Room(
        "conclusions",
        tuple(
            f"harness.analysis.{name}"
            for name in ("conclusions", "case_trace", "judged_case", "facts", "rulebook", "notebook", "source")
        ),
        ANALYSIS_TESTS,
    ),
)
