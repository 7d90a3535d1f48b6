"""The stages of `rocketdiff record page`: read the record, ask Spark, find local run directories, write."""

import json
from collections.abc import Sequence
from pathlib import Path

from rocketdiff.core.errors import UsageError
from rocketdiff.core.files import regular_bytes
from rocketdiff.documents.files import replace_file
from rocketdiff.record.ingest import folders_of
from rocketdiff.record.page import html
from rocketdiff.record.page.document import RecordDocument, document_of, encode
from rocketdiff.record.questions import Master, page_rows
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.traces.layout import MANIFEST


def make(
    place: RecordPlace,
    master: Master,
    *,
    out: Path,
    runs: Sequence[Path],
    only: Sequence[Path],
    title: str,
    command: str,
) -> RecordDocument:
    """
    Write the page and, beside it, its document as JSON.

    runs: folders in which reports to link are looked for; only: folders of runs to which the page is restricted.
    """
    chosen = _by_name(only)
    snapshot, rows = page_rows(place, master)
    document = document_of(
        snapshot,
        rows,
        title=title,
        command=command,
        page=out.absolute(),
        folders=_by_name(runs) | chosen,
        only=frozenset(chosen) if only else None,
    )
    if only and not document.total:
        raise UsageError(
            "runs of the record", seen=f"{len(chosen)} that it does not have", hint="rocketdiff record add FOLDER"
        )
    replace_file(out.with_suffix(".json"), encode(document))
    html.write(document, out)
    return document


def _by_name(folders: Sequence[Path]) -> dict[str, Path]:
    """Run directories below these folders, except unreadable ones."""
    found = {}
    for folder in folders_of(folders) if folders else ():
        try:
            name = json.loads(regular_bytes(folder / MANIFEST)).get("run")
        except (OSError, ValueError, AttributeError):
            continue
        found[str(name)] = folder
    return found
