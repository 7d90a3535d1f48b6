"""
The campaign file, version 1: subjects × suites × seeds × settings, and a simulation. Its format, JSON Schema and reader.

``rocketdiff campaign`` and ``rocketdiff matrix`` read it. ``read``, not the schema, checks whether a suite, release or
client is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from rocketdiff.campaign.plan import CampaignEntry, CampaignPlan, PlannedRun, RunSetting
from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE
from rocketdiff.core.tables.suites import EVERY_SUITE, SUITES
from rocketdiff.core.text.quoted import shown
from rocketdiff.documents.part import Part, published_schema
from rocketdiff.documents.refusal import Place, Words, read_part, refused, require_format
from rocketdiff.documents.yaml_source import Location, parse_yaml, read_text
from rocketdiff.lab.fuzz.lockstep import Effort
from rocketdiff.lab.fuzz.rounds import releases_named

FORMAT = 1

MOST_SUBJECTS = 100
"""There are 39 releases of the Java client, and a page with more than 100 columns is unreadable."""

Text = Annotated[str, Field(min_length=1, max_length=500)]
Name = Annotated[str, Field(pattern=r"^[^\s]+$", max_length=200)]
Names = Annotated[list[Name], Field(min_length=1, max_length=MOST_SUBJECTS)]
Seeds = Annotated[list[Annotated[int, Field(ge=0, lt=1 << 31)]], Field(min_length=1, max_length=100)]


class SubjectPart(Part):
    """A subject with its own baseline, suites, scenarios or seeds. Values that are not given are the file's."""

    subject: Text
    baseline: Text | None = None
    suites: Names | None = None
    scenarios: Names | None = None
    seeds: Seeds | None = None


class SettingPart(Part):
    """The servers and options of runs. Values that are not given are the file's."""

    server: Text | None = None
    cluster: Text | None = None
    security: Text | None = None
    wire: bool | None = None


class SimulationPart(Part):
    """Random scripts on the reference and the Java classes of these releases (``rocketdiff fuzz``), once per seed of the file."""

    releases: Names
    decisions: Annotated[int, Field(ge=0, le=10**9)] = 100_000
    sends: Annotated[int, Field(ge=0, le=10**9)] = 10_000


class CampaignFile(Part):
    """
    One campaign: every subject with every suite, seed and setting.

    suites, scenarios: what is run, scenarios by globs of their names; suite quick if neither is given. A run is made of
    each suite, and one of all globs, with each seed. ledgers: files of declared divergences besides the shipped ones.
    """

    format: Literal[1]
    baseline: Text
    subjects: Annotated[list[Text | SubjectPart], Field(min_length=1, max_length=MOST_SUBJECTS)]
    title: Text | None = None
    suites: Names | None = None
    scenarios: Names | None = None
    seeds: Seeds = [1]
    server: Text = DEFAULT_RELEASE
    cluster: Text = "processes"
    security: Text | None = None
    wire: bool = False
    strict: bool = False
    ledgers: list[Text] = []
    shipped_ledgers: bool = True
    settings: Annotated[list[SettingPart], Field(min_length=1, max_length=20)] | None = None
    simulation: SimulationPart | None = None


SUITES_LISTED = f"suites, a list of {', '.join(SUITES)} or {EVERY_SUITE}"
WORDS = Words(
    fields={
        "format": f"format: {FORMAT}",
        "baseline": "a subject such as java:5.3.3",
        "subject": "a subject such as java:4.9.8",
        "subjects": f"a list of 1 to {MOST_SUBJECTS} subjects, such as java:4.9.8, or mappings with the field subject",
        "suites": SUITES_LISTED,
        "scenarios": "a list of globs of scenario names, such as round-robin/*",
        "seeds": "a list of whole numbers from 0 on",
        "server": "a release such as 5.3.3, in quotes where it could be a number",
        "ledgers": "a list of ledger files",
        "wire": "true or false",
        "settings": "a list of 1 to 20 mappings with server, cluster, security or wire",
        "releases": "a list of releases of the Java client, such as 5.3.3, or [all]",
        "decisions": "a whole number from 0 to 10^9",
        "sends": "a whole number from 0 to 10^9",
    }
)


@dataclass(frozen=True, slots=True)
class Simulation:
    """Random scripts on the classes of these releases, once per seed."""

    releases: tuple[str, ...]
    effort: Effort
    seeds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Campaign:
    """A parsed campaign file: live runs, and the simulation."""

    plan: CampaignPlan
    simulation: Simulation | None = None


def schema() -> bytes:
    """JSON Schema of campaign files of this version."""
    return published_schema(CampaignFile, f"campaign:{FORMAT}").encode()


def read(path: Path) -> Campaign:
    """Read and check a campaign file. UsageError names the file, the line and what was expected."""
    source = parse_yaml(read_text(path, "campaign file"), str(path))
    require_format(source.data, source.place, FORMAT, what="campaign file", holds="format, baseline and subjects")
    file = read_part(CampaignFile, source.data, source.place, WORDS)
    return Campaign(_plan(file, source.place), _simulation(file, source.place))


def _plan(file: CampaignFile, place: Place) -> CampaignPlan:
    """The live runs of a file."""
    settings = _settings(file, place)
    entries = tuple(_entry(file, number, place, settings) for number in range(len(file.subjects)))
    _require_once(entries, place)
    return CampaignPlan(
        title=file.title or f"RocketMQ clients against {file.baseline}",
        entries=entries,
        is_strict=file.strict,
        ledgers=tuple(Path(name) for name in file.ledgers),
        has_shipped_ledgers=file.shipped_ledgers,
    )


def _setting(file: CampaignFile, own: SettingPart) -> RunSetting:
    security = own.security or file.security
    return RunSetting(
        server=own.server or file.server,
        cluster=own.cluster or file.cluster,
        security=None if security is None else Path(security),
        is_wire_wanted=file.wire if own.wire is None else own.wire,
    )


def _entry(file: CampaignFile, number: int, place: Place, settings: Sequence[RunSetting]) -> CampaignEntry:
    entry = file.subjects[number]
    location: Location = ("subjects", number)
    part = entry if isinstance(entry, SubjectPart) else SubjectPart(subject=entry)
    has_own = part.suites is not None or part.scenarios is not None
    suites, globs = (part.suites, part.scenarios) if has_own else (file.suites, file.scenarios)
    _require_suites(suites or [], (*location, "suites") if has_own else ("suites",), place)
    chosen: list[tuple[str | None, tuple[str, ...]]]
    chosen = [(None if name == EVERY_SUITE else name, ()) for name in suites or ()]
    if globs:
        chosen.append((None, tuple(globs)))
    work = tuple(
        PlannedRun(suite, patterns, seed, setting, is_one_of_many=len(settings) > 1)
        for seed in part.seeds or file.seeds
        for suite, patterns in chosen or [("quick", ())]
        for setting in settings
    )
    spec, baseline = part.subject.strip(), (part.baseline or file.baseline).strip()
    return CampaignEntry(spec, baseline, tuple(dict.fromkeys(work)), place(location))


def _settings(file: CampaignFile, place: Place) -> tuple[RunSetting, ...]:
    found: dict[RunSetting, int] = {}
    for number, part in enumerate(file.settings or [SettingPart()]):
        setting = _setting(file, part)
        if setting in found:
            raise refused(
                place,
                ("settings", number),
                expected="each setting once",
                seen=f"{setting.name} again",
                hint=f"it stands at {place(('settings', found[setting]))}",
            )
        found[setting] = number
    return tuple(found)


def _simulation(file: CampaignFile, place: Place) -> Simulation | None:
    part = file.simulation
    if part is None:
        return None
    location: Location = ("simulation", "releases")
    if not part.decisions and not part.sends:
        raise refused(place, ("simulation",), expected="decisions or sends above 0", seen="neither")
    try:
        releases = releases_named(",".join(part.releases))
    except UsageError as problem:
        raise refused(place, location, expected=problem.expected, seen=problem.seen, hint=problem.hint) from problem
    return Simulation(releases, Effort(part.decisions, part.sends), tuple(dict.fromkeys(file.seeds)))


def _require_suites(names: list[str], location: Location, place: Place) -> None:
    for name in names:
        if name not in SUITES and name != EVERY_SUITE:
            raise refused(place, location, expected=SUITES_LISTED, seen=name)


def _require_once(entries: tuple[CampaignEntry, ...], place: Place) -> None:
    seen: dict[tuple[str, str], int] = {}
    for number, entry in enumerate(entries):
        first = seen.setdefault((entry.spec, entry.baseline), number)
        if first != number:
            raise refused(
                place,
                ("subjects", number),
                expected="each subject once",
                seen=f"{shown(entry.spec)} again",
                hint=f"it stands at {place(('subjects', first))}",
            )


def at(entry: CampaignEntry, problem: UsageError) -> UsageError:
    """The error with the line of the file that names the subject."""
    return UsageError(f"{problem.expected} ({entry.place})", seen=problem.seen, hint=problem.hint)
