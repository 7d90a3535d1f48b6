"""Rules over more than one field of a scenario file: questions that can be answered, faults that can be injected."""

from collections.abc import Sequence

from rocketdiff.core.sends.knowable import unanswerable
from rocketdiff.core.tables.fault import ON_THE_WIRE, FaultSpec
from rocketdiff.core.tables.topology import TOPOLOGIES
from rocketdiff.documents.refusal import refused
from rocketdiff.documents.yaml_source import YamlSource
from rocketdiff.scenario.file_format import ScenarioFile
from rocketdiff.scenario.sending.rules import require_workload, sending_of


def require_consistent(file: ScenarioFile, faults: Sequence[FaultSpec], source: YamlSource) -> None:
    """Raise UsageError for fields that contradict each other."""
    topology = TOPOLOGIES[file.topology]
    _require_unique(file, source)
    require_workload(file.workload, file.client_settings, topology, file.topology, source)
    for fault in faults if topology.has_proxies else ():
        if fault.kind in ON_THE_WIRE:
            raise refused(
                source.place, ("faults",), expected="no faults on the wire before a proxy", seen=str(fault.kind)
            )
    _require_answerable(file, faults, source)


def require_of_producers(faults: Sequence[FaultSpec], source: YamlSource) -> None:
    """Raise UsageError for a fault that hits requests which producers do not make."""
    for fault in faults:
        if fault.of is not None:
            hint = "a fault on the wire of producers hits every frame"
            raise refused(
                source.place,
                ("faults",),
                expected="no of in a scenario of producers",
                seen=f"of: {fault.of}",
                hint=hint,
            )


def _require_unique(file: ScenarioFile, source: YamlSource) -> None:
    lists: dict[str, list[str]] = {"covers": [*file.covers], "checks": [*file.checks], "suites": [*file.suites]}
    for field, values in lists.items():
        twice = sorted({value for value in values if values.count(value) > 1})
        if twice:
            raise refused(source.place, (field,), expected="each entry once", seen=f"{', '.join(twice)} twice")


def _require_answerable(file: ScenarioFile, faults: Sequence[FaultSpec], source: YamlSource) -> None:
    """A check that can never be decisive would look like a pass, so it is refused."""
    sending = sending_of(file.workload, file.client_settings, faults, TOPOLOGIES[file.topology])
    for check in file.checks:
        if obstacle := unanswerable(check, sending):
            raise refused(
                source.place,
                ("checks",),
                expected=f"a case in which {check} can be seen",
                seen=obstacle,
                hint=f"remove {check} from checks",
            )
    for check in file.tolerances:
        if check not in file.checks:
            raise refused(
                source.place, ("tolerances", check), expected="a tolerance of a check that is asked", seen=check
            )
