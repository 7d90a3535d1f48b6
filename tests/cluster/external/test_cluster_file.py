"""The fields of a cluster file; its format is tested in tests/documents/test_file_formats.py."""

from pathlib import Path

import pytest

from rocketdiff.cluster.external.cluster_file import read
from rocketdiff.cluster.external.described import OwnersCommand, Verb
from rocketdiff.cluster.external.drafted import draft, write_draft
from rocketdiff.core.errors import ClusterError, UsageError
from rocketdiff.core.security import OPEN
from tests.cluster.external.owned import PREFIX, Owned

FIXTURES = Path(__file__).parents[3] / "fixtures"


def test_fields_of_a_cluster_file() -> None:
    """Names, addresses, commands and the witness of a pause are parsed."""
    described = read(FIXTURES / "cluster-format" / "valid-pass" / "everything.yaml")
    assert described.name_server_addresses == ("mq-ns-1.example:9876", "10.0.0.6:9876")
    assert (described.server_release, described.command_timeout_s) == ("4.0.0-incubating", 2.5)
    first, second = described.brokers
    assert (first.letter, first.name, first.witness) == ("a", "prod-mq-7", "state command and probe")
    assert first.commands[Verb.PAUSE] == OwnersCommand(("ssh", "mq-7", "pause"))
    assert first.commands[Verb.KILL].words == ("/bin/sh", "-c", "k")
    assert first.commands[Verb.KILL].shown == "k"
    assert (second.commands, second.witness) == ({}, "probe alone")


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    """A missing file is a usage error."""
    with pytest.raises(UsageError, match=r"nothing-here\.yaml.*external:cluster\.yaml"):
        read(tmp_path / "nothing-here.yaml")


def test_a_drafted_file_has_the_brokers_of_a_name_server_and_no_command(owned: Owned, tmp_path: Path) -> None:
    """The draft is a valid file of all masters, whose commands are comments, and replaces no other file."""
    address = owned.name_server.address
    write_draft(tmp_path / "drafted.yaml", draft((address,), PREFIX, OPEN))
    described = read(tmp_path / "drafted.yaml")
    assert described.name_server_addresses == (address,)
    assert [(node.letter, node.name, node.commands) for node in described.brokers] == [
        ("a", "mq-blue", {}),
        ("b", "mq-red", {}),
    ]
    assert "# pause: ssh 127.0.0.1 'sudo" in (tmp_path / "drafted.yaml").read_text()
    with pytest.raises(UsageError, match="--out"):
        write_draft(tmp_path / "drafted.yaml", "")


def test_a_name_server_that_does_not_answer_gets_no_draft(tmp_path: Path) -> None:
    """The address is named, and what it must be."""
    with pytest.raises(ClusterError, match=r"127\.0\.0\.1:1 to report its brokers.*host:port"):
        draft(("127.0.0.1:1",), PREFIX, OPEN)
