"""The reason of a failed download is its innermost one."""

import pytest
import requests

from rocketdiff.releases.unreachable import reason_of


class RetriesExceeded(Exception):
    """As the web client's: the reason of the last try is an attribute."""

    reason = OSError("Failed to resolve 'repo.test'")


CLIENT = requests.ConnectionError(RetriesExceeded("Max retries exceeded with url: /a.jar"))


def wrapped() -> Exception:
    """As a library raises it that downloads with the web client."""
    error = ValueError(f"Download failed: {CLIENT}")
    error.__cause__ = CLIENT
    return error


@pytest.mark.parametrize(
    ("error", "reason"),
    [(CLIENT, "Failed to resolve 'repo.test'"), (wrapped(), "Failed to resolve 'repo.test'"), (OSError("a\nb"), "a b")],
    ids=["web client", "wrapped", "other"],
)
def test_a_reason_has_no_layers(error: Exception, reason: str) -> None:
    """Neither the retries nor the address stand before it."""
    assert reason_of(error) == reason
