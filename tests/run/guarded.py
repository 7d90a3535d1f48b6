"""A valid case of guards, and its faults."""

from dataclasses import replace

from rocketdiff.core.arm import Arm
from rocketdiff.core.resources import resource
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.run.case.guards import CaseMeasurements
from rocketdiff.scenario import expand, load

CASE = expand(
    load(resource("fixtures/scenarios/fault-latency/pause-one-of-two.yaml")),
    SubjectId("java", "5.3.3"),
    SubjectId("python", "5.3.3"),
    seed=1,
)


SPEC = CASE.faults[0]


S = 1_000_000_000


PAUSE = FaultRecord(SPEC.episode, SPEC.kind, SPEC.node, 0, 1, 2, 1 * S, 1 * S + 1, 1 * S + 2)


SENDS = len(CASE.plan.sends)


SOUND = CaseMeasurements(
    case=CASE,
    case_name=str(CASE.id),
    first_ns={Arm.BASELINE: 0, Arm.CANDIDATE: 1_000_000},
    late_ns={Arm.BASELINE: 100_000, Arm.CANDIDATE: 100_000},
    answered={Arm.BASELINE: SENDS, Arm.CANDIDATE: SENDS},
    faults=(PAUSE,),
    problems=(),
    is_read_back=True,
    clock_slip_ms=0,
    lost={},
    origin_ns=-int(SPEC.at_s * S),
)


def twice(first: FaultRecord, second: FaultRecord) -> CaseMeasurements:
    """Two pauses of 1 s: of broker-b at 1.5 s, of broker-a at 3 s."""
    specs = (SPEC, replace(SPEC, episode=2, node="broker-a", at_s=3.0))
    case = replace(CASE, scenario=replace(CASE.scenario, faults=specs))
    return replace(SOUND, case=case, faults=(first, second), origin_ns=0)


def paused(episode: int, node: str, from_s: float, to_s: float) -> FaultRecord:
    """A pause with proven start and end."""
    begin, end = int(from_s * S), int(to_s * S)
    return FaultRecord(episode, SPEC.kind, node, begin, begin + 1, begin + 2, end, end + 1, end + 2)
