"""The published schemas are those of the code."""

import json

import jsonschema
import pytest

from maintenance.schemas import SCHEMAS, published


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_published_schema_is_up_to_date(name: str) -> None:
    """Each published schema is the one of the types, and valid against its draft; ``python -m maintenance.schemas`` writes it."""
    committed = published(name).read_bytes()
    assert committed == SCHEMAS[name]()
    jsonschema.Draft202012Validator.check_schema(json.loads(committed))


def test_every_published_schema_is_of_a_format() -> None:
    """No published schema is without a format."""
    assert {path.stem for path in published("any").parent.iterdir()} == set(SCHEMAS)
