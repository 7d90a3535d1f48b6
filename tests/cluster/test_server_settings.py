"""The text of settings files."""

from pathlib import Path

from harness.cluster.server_settings import broker_settings, logging_settings, name_server_settings, properties_text


def parsed(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines())


def test_a_broker_is_reachable_on_loopback_only() -> None:
    """What it listens on and what it tells clients and replicas."""
    settings = parsed(broker_settings("broker-a", 21_000, ["127.0.0.1:20000"], Path("/s")))
    assert {settings[name] for name in ("brokerIP1", "brokerIP2", "bindAddress")} == {"127.0.0.1"}
    assert settings["listenPort"] == "21000"


def test_a_broker_knows_every_name_server() -> None:
    """In the form that RocketMQ wants."""
    settings = parsed(broker_settings("broker-a", 21_000, ["127.0.0.1:20000", "127.0.0.1:20001"], Path("/s")))
    assert settings["namesrvAddr"] == "127.0.0.1:20000;127.0.0.1:20001"


def test_what_clients_can_feel_is_left_at_its_default() -> None:
    """A setting that is not named has RocketMQ's own value."""
    settings = parsed(broker_settings("broker-a", 21_000, ["127.0.0.1:20000"], Path("/s")))
    felt = {"autoCreateTopicEnable", "brokerFastFailureEnable", "flushDiskType", "waitTimeMillsInSendQueue"}
    assert not felt & settings.keys()
    assert "brokerClusterName" not in settings


def test_all_data_of_a_broker_is_in_its_store() -> None:
    """Nothing goes to the user's home."""
    settings = parsed(broker_settings("broker-a", 21_000, ["127.0.0.1:20000"], Path("/s")))
    assert settings["storePathRootDir"] == "/s"
    assert settings["storePathCommitLog"] == "/s/commitlog"


def test_a_name_server_keeps_its_file_in_its_folder() -> None:
    """By default it would be in the user's home."""
    settings = parsed(name_server_settings(20_000, Path("/n")))
    assert settings == {"listenPort": "20000", "bindAddress": "127.0.0.1", "kvConfigPath": "/n/kvConfig.json"}


def test_backslashes_survive_the_properties_format() -> None:
    """Java reads a single one as an escape."""
    assert properties_text({"path": "a\\b"}) == "path=a\\\\b\n"


def test_logs_go_to_stdout() -> None:
    """From where the backend keeps them."""
    assert "ConsoleAppender" in logging_settings()
