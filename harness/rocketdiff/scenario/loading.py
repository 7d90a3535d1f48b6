"""Load a Scenario from a file or from the text kept in a run."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from rocketdiff.core.case import Tolerance
from rocketdiff.core.errors import UsageError
from rocketdiff.core.resources import resource
from rocketdiff.core.text.quoted import shown
from rocketdiff.documents.part import published_schema
from rocketdiff.documents.refusal import Words, read_part, refused, require_version
from rocketdiff.documents.yaml_source import YamlSource, parse_yaml, read_text
from rocketdiff.scenario.consuming.file_format import ConsumerScenarioFile
from rocketdiff.scenario.consuming.group import group_of
from rocketdiff.scenario.consuming.rules import require_consumable
from rocketdiff.scenario.file_format import FORMAT, ScenarioFile, WireDelayPart, WirePart
from rocketdiff.scenario.model import Scenario
from rocketdiff.scenario.rules import require_consistent, require_of_producers
from rocketdiff.scenario.schedule import scheduled
from rocketdiff.scenario.sending.loading import workload_of

SUFFIX = ".yaml"

_NO_SEND_CROSSES = "faults on the wire are for brokers, since no send goes through a name server; to silence a name server use kind: pause-name-server"
"""A client asks a name server only for routes, every 30 s; no check covers how that ends."""

_WORDS = Words(
    patterns={
        "name": "a path of lower-case words such as fault-latency/pause-one-of-two",
        "broker": "the letter of a broker such as b",
    },
    unions={"kind": "a fault of a known kind"},
    unknown=dict.fromkeys(((WirePart, "name_server"), (WireDelayPart, "name_server")), _NO_SEND_CROSSES),
)


def load(path: Path) -> Scenario:
    """Read one scenario file; raise UsageError with file, line, field and expectation."""
    return parse(read_text(path), str(path))


def schema() -> bytes:
    """Return the JSON Schema of scenario files of this version, about producers and about consumers."""
    return published_schema(ScenarioFile | ConsumerScenarioFile, f"scenario:{FORMAT}").encode()  # type: ignore[arg-type]


def load_all(root: Path | None = None) -> tuple[Scenario, ...]:
    """
    Return every scenario below a folder, or every shipped one, by name.

    Raises UsageError if there is none, if a file is refused, and if two have the same name, which selection, ledgers,
    files and reports use. Only shipped files must lie where their names say; a test checks that.
    """
    return _shipped() if root is None else _below(root)


def file_text(name: str, root: Path | None = None) -> str:
    """Return the text of the file of a scenario that ``load_all`` has loaded, by its name."""
    if root is None:
        return read_text(resource(f"fixtures/scenarios/{name}{SUFFIX}"))
    return next(read_text(path) for path in sorted(root.rglob(f"*{SUFFIX}")) if load(path).name == name)


@cache
def _shipped() -> tuple[Scenario, ...]:
    return _below(resource("fixtures/scenarios"))


def _below(root: Path) -> tuple[Scenario, ...]:
    scenarios = tuple(load(path) for path in sorted(root.rglob(f"*{SUFFIX}")))
    if not scenarios:
        raise UsageError(f"scenario files (*{SUFFIX}) below {root}", seen="none", hint="check --scenarios")
    _require_unique(scenarios)
    return tuple(sorted(scenarios, key=lambda scenario: scenario.name))


def parse(text: str, origin: str) -> Scenario:
    """Read a scenario from its text; ``origin`` names the source in messages."""
    source = parse_yaml(text, origin)
    _require_format(source)
    is_about_consumers = isinstance(source.data, dict) and "consumers" in source.data
    kind = ConsumerScenarioFile if is_about_consumers else ScenarioFile
    file = read_part(kind, source.data, source.place, _WORDS)
    faults = scheduled(file, source)
    require_consistent(file, faults, source)
    group = None
    if not isinstance(file, ConsumerScenarioFile):
        require_of_producers(faults, source)
    else:
        require_consumable(file, faults, source)
        group = group_of(file.consumers)
    return Scenario(
        name=file.name,
        establishes=" ".join(file.establishes.split()),
        covers=tuple(file.covers),
        topology=file.topology,
        queues_per_broker=file.topic.queues_per_broker,
        settings=file.client_settings,
        workload=workload_of(file.workload),
        faults=faults,
        checks=tuple(file.checks),
        suites=tuple(file.suites),
        tolerances=tuple(Tolerance(check, part.ratio, part.reason) for check, part in file.tolerances.items()),
        text=text,
        source=origin,
        ordered=file.topic.ordered,
        group=group,
    )


def line_of(text: str, field: str) -> int:
    """Return the line, from 1, of a top-level field; the first line if it is absent."""
    return int(parse_yaml(text, "").place((field,)).rpartition(" ")[2])


def _require_unique(scenarios: Iterable[Scenario]) -> None:
    first: dict[str, Scenario] = {}
    for scenario in scenarios:
        known = first.setdefault(scenario.name, scenario)
        if known is not scenario:
            raise UsageError(
                f"each name of a scenario once; {scenario.name} is the one of {known.source}",
                seen=f"it again in {scenario.source}",
                hint="rename one of them",
            )


def _require_format(source: YamlSource) -> None:
    """Checked first: in another format version every field may have another meaning."""
    if not isinstance(source.data, dict):
        raise refused(source.place, (), expected="a mapping with format, name and so on", seen=_kind(source.data))
    require_version(source.data, source.place, FORMAT, what="scenario format")


def _kind(data: object) -> str:
    return {type(None): "nothing", list: "a list"}.get(type(data), shown(data))
