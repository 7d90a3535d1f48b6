"""The bytes that the real Java classes encoded, by name; see golden/Golden.java."""

from pathlib import Path

import pytest

_FILE = Path(__file__).parent / "golden" / "java-5.3.3.txt"


def read_golden(text: str) -> dict[str, str]:
    return dict(line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))


@pytest.fixture(scope="session")
def golden() -> dict[str, str]:
    return read_golden(_FILE.read_text())
