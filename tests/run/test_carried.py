"""What `subject check` reports about keys, tags and properties of stored messages."""

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketdiff.run.subject_check import check as subject_check

_AS_ASKED = {"KEYS": "a-key", "TAGS": "a-tag", "colour": "grün"}


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (_AS_ASKED, ""),
        ({"TAGS": "a-tag"}, "messages lack KEYS, colour, a difference"),
        (_AS_ASKED | {"colour": "grÃ¼n"}, "messages lack colour (they have 'grÃ¼n'), a difference"),
    ],
    ids=["all", "none of some", "encoded twice"],
)
def test_a_message_without_a_property_is_reported_with_its_others(stored: dict[str, str], message: str) -> None:
    """Missing or changed properties are reported with the stored value."""
    trial = cast(Any, SimpleNamespace(stored=[SimpleNamespace(properties=json.dumps(stored))]))
    reported = [finding.tried for finding in subject_check._carried(trial)]
    assert (message in reported[0]) if message else reported == []
