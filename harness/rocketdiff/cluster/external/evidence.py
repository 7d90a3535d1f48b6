"""What is kept of somebody's cluster for whoever reads a run later: what its brokers answered, and who witnessed its faults."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from rocketdiff.cluster.described import DescribedNode
from rocketdiff.cluster.external.survey import SeenBroker
from rocketdiff.cluster.interface import NodeState


def write_evidence(
    folder: Path,
    topology: str,
    server_release: str,
    nodes: Iterable[DescribedNode],
    brokers: Mapping[str, SeenBroker],
    states: Mapping[str, NodeState],
) -> None:
    """``nodes.json`` and, of every broker, its settings as it told them."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {node.name: _facts(node, brokers.get(node.name)) | {"state": states[node.name]} for node in nodes}
    facts = {"topology": topology, "server_release": server_release, "nodes": told}
    (folder / "nodes.json").write_text(json.dumps(facts, indent=2) + "\n")
    for name in told.keys() & brokers.keys():
        text = "".join(f"{key}={value}\n" for key, value in sorted(brokers[name].settings.items()))
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "server.properties").write_text(text)


def _facts(node: DescribedNode, broker: SeenBroker | None) -> dict[str, object]:
    facts: dict[str, object] = {
        "address": node.address,
        "faults_witnessed_by": node.witness,
        "commands": {verb.value: command.shown for verb, command in node.commands.items()},
    }
    if broker is not None:
        seen = {"address": broker.address, "release": broker.release, "booted": broker.booted}
        facts |= seen | {"answer_ms": round(broker.answer_ms, 3)}
    return facts
