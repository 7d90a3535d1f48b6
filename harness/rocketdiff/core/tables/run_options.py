"""
Run options: the table behind `rocketdiff run`, `compare`, the pytest options and the command that repeats a run.

The pytest plugin imports this module in every session, so it imports only the standard library and the table of suites.
"""

from dataclasses import dataclass
from pathlib import Path

from rocketdiff.core.tables.suites import SUITES_IN_WORDS

DEFAULT_RELEASE = "5.3.3"
"""Default release of clients and servers."""


@dataclass(frozen=True, slots=True)
class RunOption:
    """
    One option.

    name: ``--NAME`` on the command line, ``--rocketdiff-NAME`` in pytest.
    type: bool is a switch.
    is_many: repeatable.
    in_pytest: help for pytest where it differs from ``help``.
    least: smallest number.
    field: attribute of run.request.RunRequest; empty if a repeated run does not need the option.
    is_always_printed: the command that repeats a run contains it even with its default value.
    """

    name: str
    type: type[str] | type[int] | type[Path] | type[bool]
    help: str
    field: str = ""
    default: str | int | Path | bool | None = None
    is_many: bool = False
    least: int | None = None
    in_pytest: str = ""
    is_always_printed: bool = False

    @property
    def key(self) -> str:
        return self.name.replace("-", "_")

    @property
    def pytest_help(self) -> str:
        """As pytest writes its own help: no capital, no full stop."""
        return self.in_pytest or self.help[0].lower() + self.help[1:].removesuffix(".")


RUN_OPTIONS = {
    option.name: option
    for option in (
        RunOption(
            "subject",
            str,
            "client:release, 'exec:./program --flag' or subject.yaml, given twice; the first is the baseline. One: against its own reference.",
            "specs",
            is_many=True,
        ),
        RunOption(
            "suite",
            str,
            f"{SUITES_IN_WORDS}; quick (grpc for clients that speak gRPC) unless scenarios are chosen.",
            "selection.suite_name",
            in_pytest=f"shipped scenarios of a suite: {SUITES_IN_WORDS}; quick when nothing else is chosen",
        ),
        RunOption(
            "scenario",
            str,
            "Only scenarios whose name matches this glob; may be given again.",
            "selection.patterns",
            is_many=True,
        ),
        RunOption(
            "scenarios",
            Path,
            "Folder of scenario files instead of the shipped ones.",
            "selection.root",
        ),
        RunOption(
            "out",
            Path,
            "Folder that receives the run directory.",
            default=Path("reports"),
        ),
        RunOption(
            "seed",
            int,
            "Seed of plans and phases; drawn and printed when not given.",
            "seed",
            least=0,
        ),
        RunOption(
            "server",
            str,
            "Release of name servers and brokers that are started.",
            "server_asked",
            default=DEFAULT_RELEASE,
            is_always_printed=True,
        ),
        RunOption(
            "cluster",
            str,
            "Where brokers run: processes, containers, containers:host, or external:FILE, your own.",
            "backend.name",
            default="processes",
            in_pytest="what runs them: processes, containers or containers:host",
        ),
        RunOption(
            "security",
            Path,
            "Security file (account, TLS) of the cluster; in it, 'made' creates both for servers that rocketdiff starts.",
            "backend.security_file",
        ),
        RunOption("master", str, "Spark master, or none for this process alone; local[*] when not given."),
        RunOption(
            "inconclusive",
            str,
            "What an inconclusive gating check does: fail, warn or pass.",
            "judging.policy.inconclusive",
            default="fail",
        ),
        RunOption(
            "strict",
            bool,
            "Checks of severity 'should' gate too.",
            "judging.policy.strict",
            default=False,
        ),
        RunOption(
            "ledger",
            Path,
            "File of declared divergences besides the shipped ones; may be given again.",
            "judging.ledgers.files",
            is_many=True,
        ),
        RunOption(
            "no-ledger",
            bool,
            "Leave the shipped ledgers out: only what --ledger names is declared.",
            "judging.ledgers.leaves_shipped_out",
            default=False,
            in_pytest="leave the shipped ledgers out",
        ),
        RunOption(
            "wire",
            bool,
            "Route both clients through a recording proxy and compare what it sees with what each client reports.",
            "is_wire_wanted",
            default=False,
        ),
        RunOption(
            "control",
            bool,
            "Repeat each case with the baseline on both sides; a difference there makes the case invalid (exit 2).",
            "is_control_wanted",
            default=False,
        ),
        RunOption(
            "build",
            bool,
            "Run the build commands of subject files first; one that fails is exit 69.",
            default=False,
        ),
        RunOption(
            "last-failed",
            bool,
            "Only the scenarios that did not conform in the newest run below --out.",
            default=False,
        ),
        RunOption(
            "max-failures",
            int,
            "Judge each case at once, and run no further one after so many diverged.",
            least=1,
        ),
        RunOption(
            "dry-run",
            bool,
            "Print what would be done (cases, topics, faults, commands), and do nothing.",
            default=False,
        ),
        RunOption(
            "bisect",
            bool,
            "Exit as `git bisect run` wants it: 125 where this revision cannot be judged.",
            default=False,
        ),
    )
}
"""In the order of `rocketdiff run --help`."""

FOR_COMPARE = tuple(name for name in RUN_OPTIONS if name not in ("subject", "no-ledger", "bisect", "build"))
"""`compare` takes its subjects as arguments and applies no shipped ledger."""

FOR_PYTEST = (
    "subject", "suite", "scenario", "scenarios", "server", "cluster", "security", "wire", "seed", "out", "ledger", "no-ledger", "inconclusive",
    "strict",
)  # fmt: skip
"""In the order of `pytest --help`."""

TO_REPEAT = (
    "subject", "suite", "scenario", "scenarios", "server", "cluster", "security", "seed", "inconclusive", "ledger", "wire", "control",
    "no-ledger", "strict",
)  # fmt: skip
"""In the order of the printed command that repeats a run."""
