"""The class archive of the Java client, written by a driver without a name server."""

import subprocess
from pathlib import Path

import pytest

from rocketdiff.releases.class_archive import ARCHIVE, JavaStart, trained
from rocketdiff.subjects.kinds import java
from rocketdiff.subjects.kinds.java import java_start, train
from tests.cluster.processes import await_gone
from tests.live import await_that

FAILS = 'read setup; echo "$setup" >&2; echo \'{"type":"failed"}\'; cat >/dev/null\n'
"""A driver without a name server reports failed and waits."""

DUMPS = 'for word; do case $word in -XX:ArchiveClassesAtExit=*) echo classes > "${word#*=}";; esac; done\n'
"""Java's action at its end."""


@pytest.mark.parametrize(
    ("script", "how", "is_made"),
    [
        (FAILS + DUMPS, "it exited with status 0; its last line: ", True),
        (
            DUMPS + "echo no such flag >&2; exit 3",
            "it had not failed and ended after 60 s; its last line: no such flag",
            False,
        ),
        (FAILS + DUMPS + "exit 1", "it exited with status 1; its last line: ", False),
        (FAILS + "echo skipping >&2", "it exited with status 0; its last line: skipping", False),
        ("exec sleep 600", "it had not failed and ended after 1 s; its last line: ", False),
        (FAILS + "exec sleep 600", "it had not failed and ended after 1 s; its last line: ", False),
    ],
)
def test_an_archive_counts_if_its_driver_ended_well(
    tmp_path: Path, script: str, how: str, is_made: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive is kept only if its driver failed as expected and exited with 0; nothing else stays."""
    monkeypatch.setattr(java, "_TRAINING_S", 1 if "sleep" in script else 60)
    toy, draft = tmp_path / "java", tmp_path / "draft"
    toy.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\n{script}\n")
    toy.chmod(0o755)
    draft.mkdir()
    reported = train(JavaStart("toy", toy, (), ()), "5.3.3", draft / ARCHIVE, draft)
    assert reported.split('{"type"')[0] == how
    assert [file.name for file in draft.iterdir()] == [ARCHIVE] * is_made
    await_gone([int((tmp_path / "pid").read_text())])


@pytest.mark.cluster
def test_a_driver_maps_the_archive(tmp_path: Path) -> None:
    """A driver uses the archive that an earlier one wrote."""
    start = java_start("5.3.3")
    await_that(
        lambda: trained(start, lambda *files: train(start, "5.3.3", *files)) is not None,
        "an archive, whichever test makes it",
    )
    launch = java.java_launch(java.MAIN_CLASS, "5.3.3", tmp_path)
    with subprocess.Popen(
        launch.command, env=dict(launch.environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as driver:
        assert driver.stdin is not None
        assert driver.stdout is not None
        assert b'"hello"' in driver.stdout.readline()
        assert f"/{ARCHIVE}\n" in Path(f"/proc/{driver.pid}/maps").read_text()
        driver.stdin.close()
