"""The command line of a server's JVM."""

from dataclasses import replace
from pathlib import Path

from rocketdiff.cluster.launched.command_line import Installation, environment, java_command
from rocketdiff.core.tables.topology import NodeKind

INSTALLATION = Installation("5.3.3", Path("/java/bin/java"), (Path("/launcher"), Path("/jars/a.jar")))


def test_a_broker_is_started_through_the_launcher() -> None:
    """A broker starts through the launcher's class."""
    command = java_command(INSTALLATION, NodeKind.BROKER, Path("/c/broker-a"))
    assert command[0] == "/java/bin/java"
    assert command[-6:] == [
        "-cp",
        "/launcher:/jars/a.jar",
        "rocketdiff.server.Loopback",
        "org.apache.rocketmq.broker.BrokerStartup",
        "-c",
        "/c/broker-a/server.properties",
    ]


def test_a_server_writes_into_its_own_folder_only() -> None:
    """A server writes home, temporary files, crash report and logs to its folder."""
    command = java_command(INSTALLATION, NodeKind.NAME_SERVER, Path("/c/n"))
    for flag in ("-Duser.home=", "-Djava.io.tmpdir=", "-XX:ErrorFile=", "-Drocketmq.home.dir="):
        assert any(part.startswith(flag + "/c/n") for part in command)


def test_a_class_archive_is_named_only_where_there_is_one() -> None:
    """An existing class archive is on the command line; JVM messages about it are off."""
    plain = java_command(INSTALLATION, NodeKind.BROKER, Path("/c/b"))
    mapped = java_command(replace(INSTALLATION, class_archive=Path("/k/servers.jsa")), NodeKind.BROKER, Path("/c/b"))
    assert [word for word in mapped if word not in plain] == ["-XX:SharedArchiveFile=/k/servers.jsa", "-Xlog:cds*=off"]


def test_variables_that_change_a_jvm_are_not_handed_on() -> None:
    """Variables that change a JVM are not passed on; LC_ALL is fixed."""
    given = {"PATH": "/bin", "JAVA_TOOL_OPTIONS": "-Xmx1g", "NAMESRV_ADDR": "somewhere:9876"}
    assert environment(given) == {"PATH": "/bin", "LC_ALL": "C.UTF-8"}
