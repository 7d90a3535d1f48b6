"""Stored and shipped rates of the gate, and the digest of the program they were measured with."""

import ast
import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from rocketdiff.core.errors import HarnessError, TraceError
from rocketdiff.core.files import read_bytes
from rocketdiff.core.resources import locate, resource
from rocketdiff.core.text.quoted import printable
from rocketdiff.verdict.calibration import SCHEMA_VERSION, Calibration
from rocketdiff.verdict.defects_found import DefectsFound

FILE = "fixtures/calibration.json"

DEFECTS_FILE = "fixtures/sensitivity.json"
"""The shipped rates, shown in every report."""

MOST_BYTES = 1 << 28
"""Read limit of these files and of a calibration's journal, which has one line per case, of a few hundred bytes."""

UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""Exceptions of JSON decoding; the last two for invalid UTF-8, huge numbers, and deep nesting."""

SOURCE_FOLDERS = ("harness/rocketdiff", "reference_impl/rocketmq_reference")

SOURCE_SUFFIXES = frozenset({".py", ".java"})

JUDGING_FOLDERS = (
    "harness/rocketdiff/analysis",
    "harness/rocketdiff/core/answers",
    "harness/rocketdiff/core/sends",
    "harness/rocketdiff/core/sends/knowable.py",
    "harness/rocketdiff/ledger",
    "harness/rocketdiff/oracle",
    "harness/rocketdiff/relay",
    "harness/rocketdiff/statistics",
    "harness/rocketdiff/traces",
    "harness/rocketdiff/verdict",
    "reference_impl/rocketmq_reference",
)
"""Code that decides whether a trace is an alarm. Changes elsewhere do not invalidate a measured rate."""


def source_digest(folders: Sequence[str] = SOURCE_FOLDERS) -> str:
    """
    Return 12 hex digits over path and content of all Python and Java sources of these folders on disk.

    Equal in a checkout and in an installed wheel. Empty if there are no sources; it is then compared with nothing.
    """
    return _digest(folders, Path.read_bytes)


@cache
def judging_digest() -> str:
    """
    Return the digest of the judging code as it was at the first call in this process; takes about 0.3 s.

    Docstrings do not count: prose changes no answer, and judged runs and measured rates stay valid.
    """
    return _digest(JUDGING_FOLDERS, code_of)


def code_of(source: Path) -> bytes:
    """Return a Python source without docstrings, documentation of attributes and blank lines."""
    content = source.read_bytes()
    lines = content.splitlines()
    for text in _documentation(ast.parse(content)):
        if lines[text.lineno - 1].lstrip().startswith((b'"', b"r")):  # not behind other code in its line
            lines[text.lineno - 1 : text.end_lineno] = [b""] * ((text.end_lineno or text.lineno) - text.lineno + 1)
    return b"\n".join(line for line in lines if line.strip())


def _documentation(block: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Expr]:
    for statement in block.body:
        match statement:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _documentation(statement)
            case ast.Expr(value=ast.Constant(value=str())):
                yield statement


def _digest(folders: Sequence[str], read: Callable[[Path], bytes]) -> str:
    digest, is_empty = hashlib.sha256(), True
    for folder in folders:
        root = locate(folder)
        if root is None:
            continue
        for path in [root] if root.is_file() else sorted(root.rglob("*")):
            if path.suffix in SOURCE_SUFFIXES:
                name = f"{folder}/{path.relative_to(root).as_posix()}"
                digest.update(name.encode() + b"\0" + read(path) + b"\0")
                is_empty = False
    return "" if is_empty else digest.hexdigest()[:12]


def encode(calibration: Calibration) -> bytes:
    """Return readable JSON; equal values give equal bytes."""
    return msgspec.json.format(msgspec.json.encode(calibration), indent=1) + b"\n"


def decode(content: bytes, *, where: str) -> Calibration:
    """Read a stored calibration; TraceError if it is invalid or of another major version."""
    try:
        raw = msgspec.json.decode(content)
        version = str(raw.get("schema_version")) if isinstance(raw, dict) else "none"
        if version.partition(".")[0] != SCHEMA_VERSION.partition(".")[0]:
            raise msgspec.ValidationError(f"schema_version {printable(version, 60)}")
        return msgspec.convert(raw, Calibration)
    except UNREADABLE as problem:
        raise TraceError(
            f"a calibration of schema version {SCHEMA_VERSION.partition('.')[0]}.x in {where}",
            seen=str(problem),
            hint="make it again with `make calibrate`",
        ) from problem


def shipped() -> Calibration | None:
    """The calibration that comes with rocketdiff; None if not installed, which reports then state."""
    try:
        path = resource(FILE)
    except HarnessError:
        return None
    return decode(read_bytes(path, "calibration", most=MOST_BYTES), where=FILE)


def shipped_defects() -> DefectsFound | None:
    """The detection rates measured by `make sensitivity`; None if not installed."""
    try:
        path = resource(DEFECTS_FILE)
    except HarnessError:
        return None
    try:
        return msgspec.json.decode(read_bytes(path, "sensitivity", most=MOST_BYTES), type=DefectsFound)
    except UNREADABLE as problem:
        raise TraceError(
            f"what was measured with defective clients in {DEFECTS_FILE}",
            seen=str(problem),
            hint="make it again with `make sensitivity`",
        ) from problem


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the stored calibration, generated from its types; a test compares the committed file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"rocketdiff calibration {SCHEMA_VERSION}",
        **msgspec.json.schema(Calibration),
    }


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(schema()), indent=1) + b"\n")
