"""The catalogue of releases and their order."""

import pytest

from rocketdiff.releases.catalogue import client_releases, is_known_client, line_key, parent_of
from rocketdiff.releases.lock import locked


def test_clients_run_from_the_first_to_the_newest_in_release_line_order() -> None:
    """Clients are in release line order: the 4 line, then the 5 line, previews first."""
    assert client_releases() == (
        *(
            "4.0.0-incubating",
            "4.1.0-incubating",
            "4.2.0",
            "4.3.0",
            "4.3.1",
            "4.3.2",
            "4.4.0",
            "4.5.0",
            "4.5.1",
            "4.5.2",
        ),
        *("4.6.0", "4.6.1", "4.7.0", "4.7.1", "4.8.0", "4.9.0", "4.9.1", "4.9.2", "4.9.3", "4.9.4", "4.9.5", "4.9.6"),
        *("4.9.7", "4.9.8", "5.0.0-PREVIEW", "5.0.0-ALPHA", "5.0.0", "5.1.0", "5.1.1", "5.1.2", "5.1.3", "5.1.4"),
        *("5.2.0", "5.3.0", "5.3.1", "5.3.2", "5.3.3", "5.4.0", "5.5.0"),
    )


def test_servers_are_locked_from_4_3_1_on() -> None:
    """Every release whose name server and broker are published and start has its servers."""
    assert tuple(locked().servers) == (
        *("4.3.1", "4.3.2", "4.4.0", "4.5.0", "4.5.1", "4.5.2", "4.6.0", "4.6.1", "4.7.0", "4.7.1", "4.8.0", "4.9.0"),
        *("4.9.1", "4.9.2", "4.9.3", "4.9.4", "4.9.5", "4.9.7", "5.0.0", "5.1.0", "5.1.1", "5.1.4", "5.2.0"),
        *("5.3.3", "5.4.0", "5.5.0"),
    )


def test_the_java_client_that_speaks_grpc_has_three_releases() -> None:
    """Its numbers are its own, not those of the servers."""
    assert tuple(locked().grpc_clients) == ("5.0.8", "5.1.0", "5.2.0")


def test_a_release_of_the_server_alone_is_no_client() -> None:
    """5.3.4 is no known client, because only its server was released."""
    assert is_known_client("4.9.8")
    assert not is_known_client("5.3.4")


@pytest.mark.parametrize(
    ("release", "parent"),
    [
        ("4.0.0-incubating", None),
        ("4.9.8", "4.9.7"),
        ("5.0.0-PREVIEW", "4.9.0"),
        ("5.0.0-ALPHA", "4.9.3"),
        ("5.0.0", "4.9.4"),
        ("5.1.0", "5.0.0"),
    ],
)
def test_parents_follow_the_history_of_the_source(release: str, parent: str | None) -> None:
    """Parents follow the source history: the 5 line left the 4 line early."""
    assert parent_of(release) == parent


def test_a_pre_release_comes_before_its_release() -> None:
    """PREVIEW comes before ALPHA, and both before the release."""
    shuffled = ["5.0.0", "5.0.0-ALPHA", "4.9.8", "5.0.0-PREVIEW", "4.10.0"]
    assert sorted(shuffled, key=line_key) == ["4.9.8", "4.10.0", "5.0.0-PREVIEW", "5.0.0-ALPHA", "5.0.0"]


def test_an_unknown_spelling_is_an_error() -> None:
    """An unknown form of release name is an error."""
    with pytest.raises(ValueError, match=r"not a release as RocketMQ writes them: '5\.6\.0-RC1'"):
        line_key("5.6.0-RC1")
