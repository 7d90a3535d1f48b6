"""
A batch: what one command has added to a record, as a row of table ``batches``.

The row states every file of the batch with its digest, and has a digest of its own, so that a reader needs no other log
and notices any changed bit. Rows of older releases state neither; their files are those that Delta lists.
"""

import hashlib
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from rocketdiff import __version__
from rocketdiff.core.errors import TraceError


class StatedFile(msgspec.Struct, frozen=True, array_like=True):
    """A file of a batch. path: below the folder of its table. digest: SHA-256; empty for a file of an older release."""

    table: str
    path: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class Batch:
    """
    What one command has added.

    kind: add, judge, conclude, compact-… rules: digest of each check (``rules.py``); checks: the judged ones. scope: digest
    of what else answers depend on. replaces: batches whose rows this batch now holds. files: None in a row of an older release.
    """

    batch: str
    kind: str
    at_ms: int
    rocketdiff: str
    runs: int = 0
    rules: dict[str, str] = field(default_factory=dict)
    checks: tuple[str, ...] = ()
    scope: str = ""
    replaces: tuple[str, ...] = ()
    files: tuple[StatedFile, ...] | None = None


def files_in_json(files: Sequence[StatedFile]) -> str:
    """Return files as text, as in a row of Spark."""
    return _text(files)


def files_from_json(text: str) -> tuple[StatedFile, ...]:
    """Return the files of a text; raises msgspec's errors."""
    return msgspec.json.decode(text, type=tuple[StatedFile, ...])


def new_batch(kind: str) -> Batch:
    """Return a batch with the current time and a unique name."""
    return Batch(uuid.uuid4().hex[:16], kind, time.time_ns() // 1_000_000, __version__)


def row_of(batch: Batch) -> dict[str, Any]:
    """Return the row of a batch, with its digest."""
    row = {name: getattr(batch, name) for name in _PLAIN}
    row |= {"rules": _text(batch.rules), "checks": list(batch.checks), "replaces": list(batch.replaces)}
    row["files"] = files_in_json(batch.files or ())
    return row | {"digest": _digest(row)}


def batch_from(row: Mapping[str, Any], *, where: str) -> Batch:
    """Return the batch of a row; TraceError if the row is not as it was written."""
    stated, files = {name: row[name] for name in row if name != "digest"}, None
    is_older = row.get("digest") is None and row.get("files") is None
    if not is_older and row["digest"] != _digest(stated):
        raise TraceError(f"the rows of {where} as they were written", seen="a digest that has changed", hint=RESTORE)
    try:
        if not is_older:
            files = files_from_json(stated["files"])
        values = stated | {"rules": msgspec.json.decode(str(row["rules"] or "{}")), "files": files}
        return msgspec.convert(values | {name: row[name] or () for name in ("checks", "replaces")}, Batch)
    except msgspec.MsgspecError as problem:
        raise TraceError(f"a row of a batch in {where}", seen=str(problem), hint=RESTORE) from problem


RESTORE = "restore the file from a copy of the record, or add the runs to a new one with --record"
"""Hint for whatever is damaged."""

_PLAIN = ("batch", "kind", "at_ms", "rocketdiff", "runs", "scope")


def _digest(row: Mapping[str, Any]) -> str:
    return hashlib.sha256(msgspec.json.encode(row, order="sorted")).hexdigest()


def _text(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()
