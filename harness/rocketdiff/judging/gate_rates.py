"""The measured rates of the gate as they are stored and shipped, and which program they were measured with."""

import hashlib
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec

from rocketdiff.core.errors import HarnessError, TraceError
from rocketdiff.core.files import read_bytes
from rocketdiff.core.resources import locate, resource
from rocketdiff.core.text.quoted import plain
from rocketdiff.verdict.calibration import SCHEMA_VERSION, Calibration
from rocketdiff.verdict.defects_found import DefectsFound

FILE = "fixtures/calibration.json"

DEFECTS_FILE = "fixtures/sensitivity.json"
"""The measured rates that come with rocketdiff and that every report shows."""

MOST_BYTES = 1 << 28
"""A line a case, of a few hundred bytes."""

UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""What decoding JSON can raise; the last two for what is not UTF-8, numbers of thousands of digits, and nesting."""

SOURCE_FOLDERS = ("harness/rocketdiff", "reference_impl/rocketmq_reference")

SOURCE_SUFFIXES = frozenset({".py", ".java"})

JUDGING_FOLDERS = (
    "harness/rocketdiff/analysis",
    "harness/rocketdiff/ledger",
    "harness/rocketdiff/oracle",
    "harness/rocketdiff/relay",
    "harness/rocketdiff/statistics",
    "harness/rocketdiff/traces",
    "harness/rocketdiff/verdict",
    "reference_impl/rocketmq_reference",
)
"""What decides whether a trace is an alarm; the rest of the program can change without making a measured rate another one."""


def source_digest(folders: Sequence[str] = SOURCE_FOLDERS) -> str:
    """
    The program as it is on disk now, in twelve digits: all Python and Java sources of these folders, by path and content.

    The same in a checkout and in what a wheel installs; empty where no source lies, which then is compared with nothing.
    """
    digest, is_empty = hashlib.sha256(), True
    for folder in folders:
        root = locate(folder)
        if root is None:
            continue
        for path in sorted(root.rglob("*")):
            if path.suffix in SOURCE_SUFFIXES:
                name = f"{folder}/{path.relative_to(root).as_posix()}"
                digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
                is_empty = False
    return "" if is_empty else digest.hexdigest()[:12]


@cache
def judging_digest() -> str:
    """The part that judges, as it was when this process first asked; some ten milliseconds."""
    return source_digest(JUDGING_FOLDERS)


def encode(calibration: Calibration) -> bytes:
    """JSON for people and programs; same value, same bytes."""
    return msgspec.json.format(msgspec.json.encode(calibration), indent=1) + b"\n"


def decode(content: bytes, *, where: str) -> Calibration:
    """Read a stored calibration; TraceError when it is none or of another major version."""
    try:
        raw = msgspec.json.decode(content)
        version = str(raw.get("schema_version")) if isinstance(raw, dict) else "none"
        if version.partition(".")[0] != SCHEMA_VERSION.partition(".")[0]:
            raise msgspec.ValidationError(f"schema_version {plain(version, 60)}")
        return msgspec.convert(raw, Calibration)
    except UNREADABLE as problem:
        raise TraceError(
            f"a calibration of schema version {SCHEMA_VERSION.partition('.')[0]}.x in {where}",
            seen=str(problem),
            hint="make it again with `make calibrate`",
        ) from problem


def shipped() -> Calibration | None:
    """The calibration that comes with rocketdiff; None when this installation has none, which reports then say."""
    try:
        path = resource(FILE)
    except HarnessError:
        return None
    return decode(read_bytes(path, "calibration", most=MOST_BYTES), where=FILE)


def shipped_defects() -> DefectsFound | None:
    """What suites find of defective clients, as `make sensitivity` measured it; None when this installation has no such file."""
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
    """JSON Schema of the stored calibration, generated from its types; the committed form is held against it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"rocketdiff calibration {SCHEMA_VERSION}",
        **msgspec.json.schema(Calibration),
    }


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(schema()), indent=1) + b"\n")
