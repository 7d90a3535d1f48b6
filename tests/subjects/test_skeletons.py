"""Output of `rocketdiff subject init`; tests/run/test_subject_check.py builds and checks each skeleton."""

import re
from pathlib import Path

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.core.resources import resource
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.releases.lock import locked
from rocketdiff.subjects.own.skeletons import CONSUMER_SKELETONS, SKELETONS, write_skeleton


@pytest.mark.parametrize(
    ("role", "language", "most"),
    [
        *((ClientRole.PRODUCER, language, 170) for language in SKELETONS),
        *((ClientRole.CONSUMER, language, 450) for language in CONSUMER_SKELETONS),
    ],
)
def test_a_skeleton_is_short_and_whole(role: ClientRole, language: str, most: int, tmp_path: Path) -> None:
    """A skeleton has few lines, and the lock files of our driver."""
    skeleton = write_skeleton(language, tmp_path / "new" / "driver", role)
    lines = (tmp_path / "new" / "driver" / skeleton.program).read_text().splitlines()
    assert len(lines) < most
    for name in skeleton.locks:
        shipped = resource(f"harness/rocketdiff/drivers/{language}") / name
        assert (tmp_path / "new" / "driver" / name).read_bytes() == shipped.read_bytes()


@pytest.mark.parametrize("role", ClientRole)
def test_the_jars_of_the_java_skeleton_have_digests(role: ClientRole, tmp_path: Path) -> None:
    """Every jar that Maven copies for the release of the POM is compared with our lock, by an exact plugin."""
    skeleton = write_skeleton("java", tmp_path / "driver", role)
    listed = (tmp_path / "driver" / "lib.sha256").read_text()
    assert f"<version>{skeleton.jars_of}</version>" in (tmp_path / "driver" / "pom.xml").read_text()
    assert listed.count("\n") == len(locked().clients[skeleton.jars_of])
    assert re.search(rf"^[0-9a-f]{{64}}  lib/rocketmq-client-{skeleton.jars_of}\.jar$", listed, re.MULTILINE)
    assert re.match(r"mvn -q [\w.]+:maven-dependency-plugin:\d+\.\d+\.\d+:", skeleton.build[0])


def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    """A folder with files is refused and not changed."""
    write_skeleton("node", tmp_path)
    with pytest.raises(UsageError, match="expected an empty folder, or none yet"):
        write_skeleton("go", tmp_path)
    assert not (tmp_path / "go.mod").exists()


@pytest.mark.parametrize(
    ("role", "language", "folder", "message"),
    [
        (
            "producer",
            "cobol",
            "x",
            "expected one of java, go, node, rust, python; saw cobol; try: in another language, write a driver as in fixtures/examples/own-client.md, and name it exec:./driver",
        ),
        ("producer", "go", "file/driver", "that can be written"),
        ("consumer", "go", "x", "expected one of java, python for a consumer; saw go; try: subject init java"),
        (
            "consumer",
            "cobol",
            "x",
            "expected one of java, python; saw cobol; try: in another language, write a driver as in fixtures/examples/own-client.md, and name it exec:./driver",
        ),
        ("member", "java", "x", "expected a role, producer or consumer; saw member; try: --role consumer"),
    ],
)
def test_another_language_and_a_folder_that_cannot_be_made_are_refused(
    tmp_path: Path, role: str, language: str, folder: str, message: str
) -> None:
    """Another language is refused with the known ones, and a folder that cannot be created; nothing is written."""
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=message):
        write_skeleton(language, tmp_path / folder, role)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
