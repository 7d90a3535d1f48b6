"""The document on disk: written at once or not at all, read back typed, refused when it is newer than this reader."""

from pathlib import Path

import msgspec

from rocketdiff.core.errors import TraceError
from rocketdiff.core.files import read_bytes
from rocketdiff.core.plain import plain, shown
from rocketdiff.documents.files import replace_file
from rocketdiff.report.cleaning import cleaned
from rocketdiff.report.document import SCHEMA_VERSION, Document

FILE_NAME = "report.json"

_MOST_BYTES = 1 << 30
"""A run of some hundred cases has a document of a few MiB."""


def encode(document: Document) -> bytes:
    """One line of JSON (most of it is lanes, which no person reads) and a line feed; same document, same bytes."""
    return msgspec.json.encode(document) + b"\n"


def write(document: Document, folder: Path) -> Path:
    """Store the document in ``folder`` and return its path."""
    path = folder / FILE_NAME
    replace_file(path, encode(document))
    return path


def load(path: Path) -> Document:
    """
    Read a stored document; ``path`` is the file or the folder that holds it.

    Raises TraceError when there is none, when it is no report, or when its major version is newer than this reader.
    """
    file = path / FILE_NAME if path.is_dir() else path
    hint = "name a run directory, or run `rocketdiff analyze` on it first"
    content = read_bytes(file, "report document", most=_MOST_BYTES, hint=hint, error=TraceError)
    return decode(content, where=str(file))


def decode(content: bytes, *, where: str) -> Document:
    """Read a document; fields of newer minor versions are ignored. Raises TraceError, as ``load`` does."""
    try:
        raw = msgspec.json.decode(content)
        _require_known_version(raw, where=where)
        return cleaned(msgspec.convert(raw, Document))
    except (
        msgspec.MsgspecError,
        ValueError,
        RecursionError,
    ) as problem:  # not UTF-8, too deep, a number of thousands of digits
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
            seen=f"version {plain(str(version), 60)}",
            hint="read it with a newer rocketdiff" if int(major) > int(known) else "judge the run again",
        )
