"""Context of an example besides the evidence: its rule chain, the sends around it, and ledger entries that know it."""

from dataclasses import dataclass

from rocketdiff.core.plots import LaneAttempt


@dataclass(frozen=True, slots=True)
class KnownEntry:
    """An entry of the shipped ledgers that knows a divergence, in a run that was judged without them."""

    id: str
    reason: str
    ref: str


@dataclass(frozen=True, slots=True)
class ExampleContext:
    """
    Beside the example of one cluster.

    fingerprint, weight: of the cluster. explanation: lines of ``rocketdiff explain``. around: attempts of both arms at the
    sends around it, its own included. since: first release whose rules explain the candidate there, ``before`` the last one
    whose rules do not; empty where nobody looked or none does.
    """

    fingerprint: str
    weight: str
    explanation: tuple[str, ...] = ()
    around: tuple[LaneAttempt, ...] = ()
    known: tuple[KnownEntry, ...] = ()
    since: str = ""
    before: str = ""
