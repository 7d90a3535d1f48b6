"""Writes the published JSON Schemas: ``python -m maintenance.schemas``. A test fails if one is stale."""

from collections.abc import Callable, Mapping
from pathlib import Path

from rocketdiff.campaign import file_format as campaign
from rocketdiff.cluster import security_file
from rocketdiff.cluster.external import cluster_file
from rocketdiff.core.resources import resource
from rocketdiff.judging import gate_rates
from rocketdiff.ledger import file as ledger
from rocketdiff.matrix import document as matrix
from rocketdiff.protocol import json_schema as subject_protocol
from rocketdiff.report import document as report
from rocketdiff.scenario import loading as scenario
from rocketdiff.simulation.script import model as script
from rocketdiff.subjects.own import subject_file
from rocketdiff.traces import manifest as run

SCHEMAS: Mapping[str, Callable[[], bytes]] = {
    "calibration-1": gate_rates.schema,
    "campaign-1": campaign.schema,
    "cluster-1": cluster_file.schema,
    "ledger-1": ledger.schema,
    "matrix-1": matrix.schema,
    "report-1": report.schema,
    "run-1": run.schema,
    "scenario-1": scenario.schema,
    "script-1": script.schema,
    "security-1": security_file.schema,
    "subject-1": subject_file.schema,
    "subject-protocol-1": subject_protocol.schema,
}


def published(name: str) -> Path:
    """Return the file of a schema."""
    return resource("fixtures/schema") / f"{name}.json"


if __name__ == "__main__":
    for name, schema in SCHEMAS.items():
        published(name).write_bytes(schema())
