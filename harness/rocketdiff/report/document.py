"""
The report document: a report's content as one value. JSON is its stored form and the source of every other format.

schemaVersion is semantic: minor for a new field, major for a change that an older reader would misread.
"""

from pathlib import Path
from typing import Annotated

import msgspec

from rocketdiff.core.answers.evidence import TraceCounts
from rocketdiff.core.answers.plots import Plots
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult
from rocketdiff.core.errors import ExitCode, TraceError
from rocketdiff.core.files import read_bytes
from rocketdiff.core.run_info import RunInfo
from rocketdiff.core.text.quoted import printable, shown
from rocketdiff.documents.files import replace_file
from rocketdiff.ledger.apply import EntryOutcome
from rocketdiff.report.cleaning import cleaned
from rocketdiff.report.clusters import DivergenceCluster, ExampleContext, clusters_of
from rocketdiff.report.example_format import publish, publish_schema, understand
from rocketdiff.verdict.calibration import Calibration
from rocketdiff.verdict.defects_found import DefectsFound
from rocketdiff.verdict.judge import Counts, RunJudgement, RunVerdict

SCHEMA_VERSION = "1.11.0"


class Document(msgspec.Struct, frozen=True, kw_only=True, rename={"schema_version": "schemaVersion"}):
    """
    One judged run (or several judged together).

    results: every planned check, answered or not. clusters: divergences by signature, most important first. traces: how much
    was read. plots: tables for the pictures. ledger: entries about the run. contexts: of the first clusters' examples.
    calibration: measured error rates of the gate about producers, consumer_calibration (since 1.10): about consumers, or
    None. defects: what the gate finds of a bank of defective clients, or None.
    """

    schema_version: Annotated[str, msgspec.Meta(pattern=r"^1\.\d+\.\d+$")]
    verdict: RunVerdict
    exit_code: ExitCode
    machine_line: str
    policy: Policy
    counts: Counts
    run: RunInfo
    traces: TraceCounts
    results: tuple[CheckResult, ...]
    clusters: tuple[DivergenceCluster, ...]
    plots: Plots
    ledger: tuple[EntryOutcome, ...] = ()
    calibration: Calibration | None = None
    contexts: tuple[ExampleContext, ...] = ()
    defects: DefectsFound | None = None
    consumer_calibration: Calibration | None = None


def build(
    run_info: RunInfo,
    judgement: RunJudgement,
    plots: Plots,
    traces: TraceCounts,
    *,
    clusters: tuple[DivergenceCluster, ...] | None = None,
    contexts: tuple[ExampleContext, ...] = (),
    calibration: Calibration | None = None,
    defects: DefectsFound | None = None,
    consumer_calibration: Calibration | None = None,
) -> Document:
    """
    Return the document of a judged run, with plain text only; renderers add nothing.

    clusters: those of the judgement's results, if already computed.
    """
    document = Document(
        schema_version=SCHEMA_VERSION,
        verdict=judgement.verdict,
        exit_code=judgement.exit_code,
        machine_line=judgement.machine_line,
        policy=judgement.policy,
        counts=judgement.counts,
        run=run_info,
        traces=traces,
        results=judgement.results,
        clusters=clusters_of(judgement.results, judgement.policy) if clusters is None else clusters,
        plots=plots,
        ledger=judgement.ledger,
        calibration=calibration,
        contexts=contexts,
        defects=defects,
        consumer_calibration=consumer_calibration,
    )
    return cleaned(document)


FILE_NAME = "report.json"

_MOST_BYTES = 1 << 30
"""Limit of a document's size; a run of some hundred cases has a few MiB."""


def encode(document: Document) -> bytes:
    """Return one line of JSON; equal documents give equal bytes."""
    return msgspec.json.encode(publish(msgspec.to_builtins(document, str_keys=True))) + b"\n"


def write(document: Document, folder: Path) -> Path:
    """Write the document into ``folder`` and return its path."""
    path = folder / FILE_NAME
    replace_file(path, encode(document))
    return path


def load(path: Path) -> Document:
    """
    Read a stored document; ``path`` is the file or its folder.

    Raises TraceError if there is none, or if it is no report of this major version.
    """
    file = path / FILE_NAME if path.is_dir() else path
    hint = "name a run directory, or run `rocketdiff analyze` on it first"
    content = read_bytes(file, "report document", most=_MOST_BYTES, hint=hint, error=TraceError)
    return decode(content, where=str(file))


def decode(content: bytes, *, where: str) -> Document:
    """Read a document, ignoring fields of newer minor versions. Raises TraceError, as ``load`` does."""
    try:
        raw = msgspec.json.decode(content)
        _require_known_version(raw, where=where)
        return cleaned(msgspec.convert(understand(raw), Document))
    except (
        msgspec.MsgspecError,
        ValueError,
        RecursionError,
    ) as problem:  # not UTF-8, nested too deeply, or a number with thousands of digits
        raise TraceError(
            f"a rocketdiff report in {where}",
            seen=str(problem),
            hint="judge the run again with `rocketdiff analyze`; the traces are enough",
        ) from problem


def _require_known_version(raw: object, *, where: str) -> None:
    version = raw.get("schemaVersion") if isinstance(raw, dict) else None
    known = SCHEMA_VERSION.partition(".")[0]
    major = version.partition(".")[0] if isinstance(version, str) else ""
    if not (major.isascii() and major.isdecimal() and len(major) < 6):
        raise TraceError(
            f"a rocketdiff report in {where}, with its schemaVersion",
            seen="none" if version is None else shown(version),
            hint="the file is report.json of a run directory",
        )
    if major != known:
        raise TraceError(
            f"a report of schema version {known}.x in {where}",
            seen=f"version {printable(str(version), 60)}",
            hint="read it with a newer rocketdiff" if int(major) > int(known) else "judge the run again",
        )


def schema() -> bytes:
    """Return the JSON Schema (2020-12) of report documents of the current major version."""
    generated = msgspec.json.schema(Document, schema_hook=_anything)
    publish_schema(generated["$defs"])
    body = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"rocketdiff report document {SCHEMA_VERSION}",
        **generated,
    }
    return msgspec.json.format(msgspec.json.encode(body), indent=1) + b"\n"


def _anything(kind: type) -> dict[str, object]:
    """``object`` is any JSON value."""
    if kind is object:
        return {"description": "Any JSON value."}
    raise NotImplementedError(kind)
