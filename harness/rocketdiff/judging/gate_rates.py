"""Stored and shipped rates of the gate, and the digest of the program they were measured with."""

import hashlib

import msgspec

from rocketdiff.core.errors import HarnessError, TraceError
from rocketdiff.core.files import read_bytes
from rocketdiff.core.resources import locate, resource
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.text.quoted import printable
from rocketdiff.verdict.calibration import SCHEMA_VERSION, Calibration
from rocketdiff.verdict.defects_found import DefectsFound

FILES = {
    ClientRole.PRODUCER: "fixtures/calibration.json",
    ClientRole.CONSUMER: "fixtures/calibration-consumers.json",
}
"""The shipped rates by role."""

DEFECTS_FILE = "fixtures/sensitivity.json"
"""The shipped rates, shown in every report."""

MOST_BYTES = 1 << 28
"""Read limit of these files and of a calibration's journal, which has one line per case, of a few hundred bytes."""

UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""Exceptions of JSON decoding; the last two for invalid UTF-8, huge numbers, and deep nesting."""

SOURCE_FOLDERS = ("harness/rocketdiff", "reference_impl/rocketmq_reference")

SOURCE_SUFFIXES = frozenset({".py", ".java"})


def source_digest() -> str:
    """
    Return 12 hex digits over path and content of all Python and Java sources on disk.

    Equal in a checkout and in an installed wheel. Empty if there are no sources; it is then compared with nothing.
    """
    digest, is_empty = hashlib.sha256(), True
    for folder in SOURCE_FOLDERS:
        root = locate(folder)
        if root is None:
            continue
        for path in sorted(root.rglob("*")):
            if path.suffix in SOURCE_SUFFIXES:
                name = f"{folder}/{path.relative_to(root).as_posix()}"
                digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
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


def shipped(role: ClientRole = ClientRole.PRODUCER) -> Calibration | None:
    """The calibration of a role that comes with rocketdiff; None if not installed, which reports then state."""
    name = FILES[role]
    try:
        path = resource(name)
    except HarnessError:
        return None
    return decode(read_bytes(path, "calibration", most=MOST_BYTES), where=name)


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


def schema() -> bytes:
    """Return the JSON Schema of the stored calibration."""
    body = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"rocketdiff calibration {SCHEMA_VERSION}",
        **msgspec.json.schema(Calibration),
    }
    return msgspec.json.format(msgspec.json.encode(body), indent=1) + b"\n"
