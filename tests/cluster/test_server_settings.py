"""Servers' settings files."""

from pathlib import Path

import pytest

from rocketdiff.cluster.server_settings import (
    broker_settings,
    logging_settings,
    name_server_settings,
    properties_text,
    role_settings,
)
from rocketdiff.core.tables.topology import topology_named

ONE = topology_named("one-master")


def parsed(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines())


def test_a_broker_is_on_loopback_with_its_store_and_keeps_defaults() -> None:
    """A broker listens on loopback, knows every name server and its store; settings that clients notice keep defaults."""
    settings = parsed(broker_settings(ONE, "broker-a", 21_000, ["127.0.0.1:20000", "127.0.0.1:20001"], Path("/s")))
    assert {settings[name] for name in ("brokerIP1", "brokerIP2", "bindAddress")} == {"127.0.0.1"}
    assert (settings["listenPort"], settings["namesrvAddr"]) == ("21000", "127.0.0.1:20000;127.0.0.1:20001")
    assert (settings["storePathRootDir"], settings["storePathCommitLog"]) == ("/s", "/s/commitlog")
    felt = {"autoCreateTopicEnable", "brokerFastFailureEnable", "flushDiskType", "waitTimeMillsInSendQueue"}
    assert not (felt | {"brokerClusterName"}) & settings.keys()


def test_a_name_server_keeps_its_file_in_its_folder() -> None:
    """A name server's file is in its folder, not in the user's home."""
    settings = parsed(name_server_settings(20_000, Path("/n")))
    assert settings == {"listenPort": "20000", "bindAddress": "127.0.0.1", "kvConfigPath": "/n/kvConfig.json"}


SYNC_MASTER = {"brokerRole": "SYNC_MASTER", "inSyncReplicas": 2, "slaveTimeout": 500}
READ_FROM_SLAVES = {"slaveReadEnable": True}


@pytest.mark.parametrize(
    ("topology", "broker", "brokers_id", "others"),
    [
        ("master-with-slave-sync", "broker-a-slave-1", 1, {"brokerRole": "SLAVE", **READ_FROM_SLAVES}),
        ("master-with-slave-sync", "broker-a", 0, SYNC_MASTER | READ_FROM_SLAVES),
        ("master-with-slave-async", "broker-a", 0, READ_FROM_SLAVES),
        ("two-masters", "broker-a", 0, {}),
        ("two-masters-sync-flush", "broker-a", 0, {"flushDiskType": "SYNC_FLUSH"}),
    ],
)
def test_a_broker_has_the_settings_of_its_role(
    topology: str, broker: str, brokers_id: int, others: dict[str, object]
) -> None:
    """
    A slave has its master's name and its own id, and may be read; an async master and asynchronous flush are defaults.

    A sync master waits for one copy, from 5.0.0 on by inSyncReplicas, for 500 ms, less than a producer's timeout.
    """
    settings = role_settings(topology_named(topology), broker)
    assert settings == {"brokerName": "broker-a", "brokerId": brokers_id, **others}


@pytest.mark.parametrize(("path", "written"), [("ü/路/😀", "\\u00fc/\\u8def/\\ud83d\\ude00"), ("a\\b", "a\\\\b")])
def test_a_path_in_any_script_is_read_by_java_as_it_is(path: str, written: str) -> None:
    """Non-ASCII characters and backslashes are escaped for java.util.Properties; one beyond the BMP needs two escapes."""
    assert properties_text({"path": path}) == f"path={written}\n"


def test_logs_go_to_stdout() -> None:
    """Servers log to stdout, which the backend stores."""
    assert "ConsoleAppender" in logging_settings()
