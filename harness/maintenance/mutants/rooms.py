"""The rooms of the judging code that are mutated, and the tests for each room's mutants."""

from dataclasses import dataclass

from maintenance.mutants.mutants import WITH_ENUMERATIONS, Mutant, all_mutants, module_names

ANALYSIS_TESTS = ("tests/analysis", "tests/judging/test_older_run.py")

ORACLE_TESTS = (
    "tests/oracle",
    "tests/analysis/sending/checks/test_whole_runs.py",
    "tests/judging/test_examples.py",
)
"""Asynchronous retries and the explanation of a decision need tests with whole cases."""

CONSUMING_TESTS = ("tests/analysis/consuming",)


@dataclass(frozen=True, slots=True)
class Room:
    """Some modules, and the folders and files of their tests; tests that start servers are left out."""

    name: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def prefixes(self) -> tuple[str, ...]:
        return tuple(f"{module.removeprefix('rocketdiff.')}{mark}" for module in self.modules for mark in ".:")

    def mutants(self) -> list[Mutant]:
        return all_mutants(self.modules, WITH_ENUMERATIONS)


def _modules(package: str) -> tuple[str, ...]:
    return tuple(module_names(package))


ROOMS = (
    Room(
        "guards",
        ("rocketdiff.run.case.guards", "rocketdiff.run.case.sending.guards"),
        ("tests/run/test_guards.py", "tests/run/sending/test_guards.py"),
    ),
    Room(
        "verdict",
        (
            *_modules("rocketdiff.verdict"),
            *_modules("rocketdiff.ledger"),
            "rocketdiff.statistics.significance",
            "rocketdiff.core.answers.policy",
        ),
        ("tests/verdict", "tests/ledger", "tests/statistics/test_significance.py", "tests/judging/test_ledgers.py"),
    ),
    Room(
        "oracle",
        (
            "rocketdiff.oracle.choices",
            "rocketdiff.oracle.interval",
            *_modules("rocketdiff.oracle.producer"),
        ),
        ORACLE_TESTS,
    ),
    Room("oracle-consumer", _modules("rocketdiff.oracle.consumer"), ("tests/oracle", *CONSUMING_TESTS)),
    Room(
        "checks-consumer",
        tuple(
            module
            for module in _modules("rocketdiff.analysis.consuming")
            if not module.startswith("rocketdiff.analysis.consuming.pictures.")
        ),
        CONSUMING_TESTS,
    ),
    Room(
        "steps", ("rocketdiff.analysis.fault_windows", *_modules("rocketdiff.analysis.sending.steps")), ANALYSIS_TESTS
    ),
    Room(
        "checks",
        (*_modules("rocketdiff.analysis.checks"), *_modules("rocketdiff.analysis.sending.checks")),
        ANALYSIS_TESTS,
    ),
    Room(
        "columns",
        ("rocketdiff.analysis.sending.wall_times", *_modules("rocketdiff.analysis.sending.columns")),
        ANALYSIS_TESTS,
    ),
    Room(
        "conclusions",
        tuple(
            f"rocketdiff.analysis.{name}"
            for name in (
                "conclusions",
                "case_trace",
                "facts",
                "fact_collector",
                "sending.case_pass",
                "sending.send_facts",
                "sending.sends",
                "spark.cases",
            )
        ),
        ANALYSIS_TESTS,
    ),
)
