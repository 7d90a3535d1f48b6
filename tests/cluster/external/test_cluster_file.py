"""The fields of a cluster file; its format is tested in tests/documents/test_file_formats.py."""

from pathlib import Path

import pytest

from rocketdiff.cluster.external.cluster_file import read
from rocketdiff.cluster.external.described import OwnersCommand, Verb
from rocketdiff.core.errors import UsageError

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
