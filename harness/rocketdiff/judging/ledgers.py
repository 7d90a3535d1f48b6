"""Selects, reads and checks the ledgers of a run before anything is started."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rocketdiff.core.answers.evidence import GROUPS_POOL, latency_pool
from rocketdiff.core.errors import UsageError
from rocketdiff.core.resources import resource
from rocketdiff.core.tables.checks import CheckKind, asked_for
from rocketdiff.core.tables.fault import fault_counts
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.text.glob import path_glob
from rocketdiff.documents.yaml_source import parse_yaml, read_text
from rocketdiff.judging.run_info import stored_scenario
from rocketdiff.ledger.file import ParsedFile, refusals
from rocketdiff.ledger.file import parse as parse_ledger
from rocketdiff.ledger.lint import KnownCheck, unmatched
from rocketdiff.ledger.model import Entry, Ledger
from rocketdiff.scenario import Scenario, load_all
from rocketdiff.scenario.checks_asked import REPORTED_UNPLANNED, checks_planned
from rocketdiff.traces.run_directory import RunDirectory

SUFFIX = ".yaml"

POOLED = (
    *(
        f"pooled/pause/{latency_pool(is_on)}/{check}"
        for is_on in (False, True)
        for check in asked_for(ClientRole.PRODUCER, CheckKind.STATISTICAL)
    ),
    *(f"pooled/pause/{GROUPS_POOL}/{check}" for check in asked_for(ClientRole.CONSUMER, CheckKind.STATISTICAL)),
    "pooled/sends/outcomes",
    "pooled/starts/queue-choice",
)
"""Checks over all pauses, sends or starts of a run; no scenario names them."""


@dataclass(frozen=True, slots=True)
class LedgerChoice:
    """The user's choice: own files, and whether the shipped ones apply."""

    files: tuple[Path, ...] = ()
    shipped: bool = True

    @property
    def leaves_shipped_out(self) -> bool:
        return not self.shipped


def shipped_files() -> tuple[Path, ...]:
    """The ledgers that come with rocketdiff, one per client."""
    return tuple(sorted(resource("fixtures/ledgers").glob(f"*{SUFFIX}")))


def load(choice: LedgerChoice, scenarios: Iterable[Scenario] = ()) -> Ledger:
    """
    Read every chosen file.

    scenarios: the run's own ones. Raises UsageError for an invalid file, a duplicate id, and a user's entry that no
    scenario can match.
    """
    chosen = [*(shipped_files() if choice.shipped else ()), *choice.files]
    files = [read(path) for path in chosen]
    require_unique(files)
    own = [entry for file in files[len(files) - len(choice.files) :] for entry in file.entries]
    if own:
        _require_matched(own, admitted(own, [*load_all(), *scenarios]))
    return Ledger(tuple(entry for file in files for entry in file.entries))


def load_for(choice: LedgerChoice, runs: Sequence[Path]) -> Ledger:
    """Like ``load``, for stored runs with their own scenarios; a run without the shipped ledgers is judged without them again."""
    manifests = [RunDirectory.open(run).manifest for run in runs]
    choice = replace(choice, shipped=choice.shipped and all(manifest.shipped_ledgers for manifest in manifests))
    if not choice.files:
        return load(choice)
    entries = [entry for manifest in manifests for entry in manifest.cases]
    return load(choice, map(stored_scenario, entries))


def read(path: Path) -> ParsedFile:
    """
    Read one ledger file; UsageError names the file, the line and what was expected there.

    Entries store only the file's name, because reports travel to other machines.
    """
    source = parse_yaml(text_of(path), str(path))
    file = parse_ledger(source.data, path.name, source.place)
    entries = tuple(replace(entry, place=entry.place.replace(str(path), path.name)) for entry in file.entries)
    return replace(file, entries=entries)


def problems(path: Path) -> tuple[UsageError, ...]:
    """Return all errors in a file's entries; empty if the file as a whole is no ledger."""
    try:
        source = parse_yaml(text_of(path), str(path))
    except UsageError:
        return ()
    return tuple(refusals(source.data, source.place))


def text_of(path: Path) -> str:
    """The file's text; UsageError if it is unreadable or not UTF-8."""
    return read_text(path, "ledger")


def known_checks(scenarios: Iterable[Scenario]) -> tuple[KnownCheck, ...]:
    """Every check that the scenarios ask, and the pooled ones."""
    own = tuple(_known(scenario, check) for scenario in scenarios for check in checks_planned(scenario))
    return (*own, *(KnownCheck(path, {}, {}) for path in POOLED))


def admitted(entries: Iterable[Entry], scenarios: Sequence[Scenario]) -> tuple[KnownCheck, ...]:
    """
    Return the known checks, and unplanned checks for the entries that match no other.

    An unplanned check has an answer only if it found a difference, which gates. Other entries do not match it: it would
    count among the checks of a run that can make them stale.
    """
    known = known_checks(scenarios)
    lost = [path_glob(entry.check) for entry in entries if unmatched(entry, known)]
    besides = (
        _known(scenario, check)
        for scenario in scenarios
        for check in REPORTED_UNPLANNED
        if check not in scenario.checks
    )
    return (*known, *(check for check in besides if any(expression.fullmatch(check.path) for expression in lost)))


def _known(scenario: Scenario, check: str) -> KnownCheck:
    return KnownCheck(
        f"{scenario.name}/{check}", asdict(scenario.settings), fault_counts(scenario.faults), scenario.group_figures
    )


def require_unique(files: Sequence[ParsedFile]) -> None:
    """Raise UsageError, naming both places, if two entries share an id."""
    first: dict[str, Entry] = {}
    for entry in (entry for file in files for entry in file.entries):
        known = first.setdefault(entry.id, entry)
        if known is not entry:
            raise UsageError(
                f"each id once in all ledgers; {entry.id} stands at {known.place}",
                seen=f"it again at {entry.place}",
                hint="rename one of them, or leave out the shipped ledgers with --no-ledger",
            )


def _require_matched(entries: Sequence[Entry], known: Sequence[KnownCheck]) -> None:
    for entry in entries:
        if problem := unmatched(entry, known):
            raise UsageError(
                f"an entry that can match a check ({entry.place})",
                seen=f"{entry.id}: {problem}",
                hint="rocketdiff ledger lint",
            )
