"""
Servers and ports that only one of the two clients keeps connections to: a firewall or proxy may let only some through.

Compared are kinds of servers and ports, not single brokers: which of several brokers or name servers a client asks first is
luck. Slaves are left out: the warm-up of our Java driver unregisters its producer from every broker, slaves too, on connections
that the measured producer shares; neither client sends anything to a slave by itself. Counted is calm alone, because a fault may move a client to another server. Not seen: connections that are
closed again between two samples, and servers outside the cluster.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.fault_windows import first_fault_ns
from rocketdiff.core.answers.verdict import Divergence, Example
from rocketdiff.core.answers.where import NOWHERE
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.signatures import OTHER_SERVERS
from rocketdiff.core.units import NS_PER_S
from rocketdiff.traces.manifest import ConnectionSample

KEPT_NS = NS_PER_S
"""
How long one client keeps a connection of a kind, and the other any, for the lack of the former to count: two sampling
intervals. A connection that lasts no longer may be missed in the other arm.
"""

_WORDS = {
    "broker": "a broker's own port",
    "broker-vip": "a broker's VIP port, two below its own",
    "name-server": "a name server",
    "name-servers": "several name servers at once",
    "proxy": "a proxy",
    "proxies": "several proxies at once",
}
_SLAVE = "-slave-"
_SEVERAL = {"name-server": "name-servers", "proxy": "proxies"}


@dataclass(slots=True)
class _Use:
    """Time in ns for which connections of each kind, and any, were held in calm; the servers of each kind."""

    kept_ns: Counter[str] = field(default_factory=Counter)
    any_ns: int = 0
    servers: dict[str, set[str]] = field(default_factory=dict)


def divergences_of(facts: CaseFacts) -> Iterator[Divergence]:
    """Yield one divergence per kind that only one client used; nothing if a client was not observed or broke off."""
    uses = {arm: use for arm in Arm if (use := _use(facts, arm)) is not None and use.any_ns >= KEPT_NS}
    if facts.entry.breaches or len(uses) < len(Arm):
        return
    for arm, other in ((Arm.CANDIDATE, Arm.BASELINE), (Arm.BASELINE, Arm.CANDIDATE)):
        one, without = uses[arm], uses[other]
        for kind, kept_ns in one.kept_ns.items():
            if kept_ns >= KEPT_NS and kind not in without.servers:
                yield _divergence(facts, arm, kind, sorted(one.servers[kind]), kept_ns)


def _divergence(facts: CaseFacts, arm: Arm, kind: str, servers: list[str], kept_ns: int) -> Divergence:
    held = f"{' and '.join(servers)} for {kept_ns / NS_PER_S:.1f} s"
    if arm is Arm.CANDIDATE:
        place, expected, observed = kind, f"no connection to {_WORDS[kind]}, as of {facts.subjects[Arm.BASELINE]}", held
    else:
        place, expected, observed = (
            f"no-{kind}",
            f"connections to {_WORDS[kind]}, as of {facts.subjects[arm]}: {held}",
            "none",
        )
    example = Example(NOWHERE, "calm", expected, observed)
    return Divergence(OTHER_SERVERS.text(place), facts.subjects[Arm.CANDIDATE], len(servers), example)


def _use(facts: CaseFacts, arm: Arm) -> _Use | None:
    """None if connections could not be read. A sample holds until the next."""
    samples = facts.entry.connections.get(arm, ())
    until_ns = first_fault_ns(facts.faults)
    use = _Use()
    for sample, later in pairwise(samples):
        end_ns = later.at_ns if until_ns is None else min(later.at_ns, until_ns)
        if sample.at_ns < end_ns and not _add(use, sample, end_ns - sample.at_ns):
            return None
    return use if samples else None


def _add(use: _Use, sample: ConnectionSample, lasted_ns: int) -> bool:
    if sample.held is None:
        return False
    for kind, servers in _by_kind(sample.held).items():
        use.kept_ns[kind] += lasted_ns
        use.servers.setdefault(kind, set()).update(servers)
    use.any_ns += lasted_ns if sample.held else 0
    return True


def _by_kind(held: Mapping[str, int]) -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = {}
    for server in held:
        if _SLAVE not in server:
            kinds.setdefault(_kind(server), []).append(server)
    return kinds | {_SEVERAL[kind]: names for kind, names in kinds.items() if kind in _SEVERAL and len(names) > 1}


def _kind(server: str) -> str:
    name = server.removesuffix(" vip")
    kind = next((kind for kind in _SEVERAL if name.startswith(kind)), "broker")
    return kind if name == server else f"{kind}-vip"
