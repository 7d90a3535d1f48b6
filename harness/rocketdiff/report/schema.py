"""
The JSON Schema of the document, generated from its types: ``python -m rocketdiff.report.schema`` prints it.

fixtures/schema/report-1.json is its committed form; a test refuses a difference between the two.
"""

import sys

import msgspec

from rocketdiff.report.document import SCHEMA_VERSION, Document


def schema() -> bytes:
    """JSON Schema (2020-12) of report documents of the current major version."""
    body = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"rocketdiff report document {SCHEMA_VERSION}",
        **msgspec.json.schema(Document, schema_hook=_anything),
    }
    return msgspec.json.format(msgspec.json.encode(body), indent=1) + b"\n"


def _anything(kind: type) -> dict[str, object]:
    """``object`` in the types means any JSON value: the details of an example belong to its check."""
    if kind is object:
        return {"description": "Any JSON value."}
    raise NotImplementedError(kind)


if __name__ == "__main__":
    sys.stdout.buffer.write(schema())
