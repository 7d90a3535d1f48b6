"""Servers' settings files."""

from pathlib import Path

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


def test_a_broker_is_reachable_on_loopback_only() -> None:
    """A broker listens on loopback and advertises it to clients and replicas."""
    settings = parsed(broker_settings(ONE, "broker-a", 21_000, ["127.0.0.1:20000"], Path("/s")))
    assert {settings[name] for name in ("brokerIP1", "brokerIP2", "bindAddress")} == {"127.0.0.1"}
    assert settings["listenPort"] == "21000"


def test_a_broker_knows_every_name_server() -> None:
    """A broker's name servers are separated by semicolons."""
    settings = parsed(broker_settings(ONE, "broker-a", 21_000, ["127.0.0.1:20000", "127.0.0.1:20001"], Path("/s")))
    assert settings["namesrvAddr"] == "127.0.0.1:20000;127.0.0.1:20001"


def test_settings_that_clients_notice_keep_their_defaults() -> None:
    """Settings that clients can notice keep RocketMQ's defaults."""
    settings = parsed(broker_settings(ONE, "broker-a", 21_000, ["127.0.0.1:20000"], Path("/s")))
    felt = {"autoCreateTopicEnable", "brokerFastFailureEnable", "flushDiskType", "waitTimeMillsInSendQueue"}
    assert not felt & settings.keys()
    assert "brokerClusterName" not in settings


def test_all_data_of_a_broker_is_in_its_store() -> None:
    """A broker's data is in its store."""
    settings = parsed(broker_settings(ONE, "broker-a", 21_000, ["127.0.0.1:20000"], Path("/s")))
    assert settings["storePathRootDir"] == "/s"
    assert settings["storePathCommitLog"] == "/s/commitlog"


def test_a_name_server_keeps_its_file_in_its_folder() -> None:
    """A name server's file is in its folder, not in the user's home."""
    settings = parsed(name_server_settings(20_000, Path("/n")))
    assert settings == {"listenPort": "20000", "bindAddress": "127.0.0.1", "kvConfigPath": "/n/kvConfig.json"}


def test_a_slave_has_its_masters_name_and_an_id_of_its_own() -> None:
    """A slave has its master's name, its own id, and no replication settings."""
    sync = topology_named("master-with-slave-sync")
    assert role_settings(sync, "broker-a-slave-1") == {"brokerName": "broker-a", "brokerId": 1, "brokerRole": "SLAVE"}


def test_a_sync_master_waits_for_one_copy_besides_its_own() -> None:
    """A sync master waits for one copy, from 5.0.0 on by inSyncReplicas, for 500 ms, less than a producer's timeout."""
    settings = role_settings(topology_named("master-with-slave-sync"), "broker-a")
    assert (settings["brokerRole"], settings["inSyncReplicas"]) == ("SYNC_MASTER", 2)
    assert settings["slaveTimeout"] == 500


def test_an_async_master_is_the_default() -> None:
    """An async master has default role and flush settings."""
    assert role_settings(topology_named("master-with-slave-async"), "broker-a") == {
        "brokerName": "broker-a",
        "brokerId": 0,
    }


def test_sync_flush_is_asked_for_by_its_topology() -> None:
    """A sync-flush topology sets flushDiskType to SYNC_FLUSH."""
    assert role_settings(topology_named("two-masters-sync-flush"), "broker-b")["flushDiskType"] == "SYNC_FLUSH"


def test_a_path_in_any_script_is_read_by_java_as_it_is() -> None:
    """Non-ASCII characters are escaped, because java.util.Properties reads Latin-1; one beyond the BMP needs two escapes."""
    assert properties_text({"path": "ü/路/😀"}) == "path=\\u00fc/\\u8def/\\ud83d\\ude00\n"


def test_backslashes_survive_the_properties_format() -> None:
    """Backslashes are doubled, because Java reads a single one as an escape."""
    assert properties_text({"path": "a\\b"}) == "path=a\\\\b\n"


def test_logs_go_to_stdout() -> None:
    """Servers log to stdout, which the backend stores."""
    assert "ConsoleAppender" in logging_settings()
