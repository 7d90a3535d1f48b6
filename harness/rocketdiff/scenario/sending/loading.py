"""The workload of a scenario file, checked, as a value."""

from rocketdiff.core.sends.plan import SendMode
from rocketdiff.scenario.sending.file_format import WorkloadPart
from rocketdiff.scenario.sending.workload import Workload


def workload_of(part: WorkloadPart) -> Workload:
    """Return the workload that a file states."""
    match part.arguments:
        case "random":
            arguments: tuple[int, ...] | None = None
        case None | "ascending":
            arguments = ()
        case given:
            arguments = tuple(given)
    return Workload(
        threads=part.threads,
        rate_per_s=part.rate_per_s,
        duration_s=part.duration_s,
        calls=part.calls,
        arguments=arguments,
        body_bytes=(part.body_bytes,) if isinstance(part.body_bytes, int) else tuple(part.body_bytes),
        mode=SendMode(part.mode),
        delay_levels=part.delay_levels,
        keys=tuple(part.keys or ("",)),
        tags=tuple(part.tags or ("",)),
        properties=tuple(sorted(part.properties.items())),
    )
