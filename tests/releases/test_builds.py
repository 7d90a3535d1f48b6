"""Patched jars of the Java client: their release, label and class path."""

import shutil
import zipfile
from pathlib import Path

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.core.subject import SubjectId
from rocketdiff.releases.artifacts.class_paths import client_class_path
from rocketdiff.releases.cache import sha256_of
from rocketdiff.releases.catalogue import base_of
from rocketdiff.releases.programs.builds import class_path, is_build, is_kept, kept
from rocketdiff.subjects.registry import resolved
from tests.releases.patched import FAULT_STRATEGY, client_jar, patched_jar, with_entry

RELEASE = "5.3.3"


@pytest.fixture(autouse=True)
def _cache(own_cache_folder: Path) -> None:
    """Builds have a cache of the test's own."""


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    return with_entry(client_jar(RELEASE), tmp_path / "rocketmq-client.jar", "note.txt")


def test_its_label_is_the_release_it_goes_by_and_its_digest(jar: Path) -> None:
    """A build's label is its release and digest; its rules are the release's."""
    label = kept(f"{jar}@{RELEASE}")
    assert label == f"{RELEASE}+{sha256_of(jar)[:8]}"
    assert (base_of(label), is_kept(label), SubjectId("java", label).rules) == (RELEASE, True, RELEASE)


def test_without_a_release_that_of_pom_properties_is_used(jar: Path) -> None:
    """Without a given release the one in pom.properties is used."""
    assert kept(str(jar)) == kept(f"{jar}@{RELEASE}")


def test_the_bytes_of_the_published_jar_are_the_published_release(tmp_path: Path) -> None:
    """A copy of the published jar is the published release under any name."""
    copy = tmp_path / "mine.jar"
    shutil.copyfile(client_jar(RELEASE), copy)
    assert kept(f"{copy}@{RELEASE}") == RELEASE
    assert not is_kept(RELEASE)


def test_it_stands_in_the_place_of_its_artifact(jar: Path) -> None:
    """A copy of the jar replaces its artifact in the release's class path."""
    label = kept(str(jar))
    jar.unlink()
    first, *others = class_path(label)
    assert first.name == "000-rocketmq-client.jar"
    assert sha256_of(first)[:8] == label.partition("+")[2]
    assert others == [path for path in client_class_path(RELEASE) if path != client_jar(RELEASE)]


def test_a_folder_of_jars_is_a_class_path_of_its_own(tmp_path: Path) -> None:
    """A folder of the published jars is the release; one changed jar makes a build."""
    folder = tmp_path / "lib"
    folder.mkdir()
    for path in client_class_path(RELEASE):
        shutil.copyfile(path, folder / path.name)
    assert kept(f"{folder}/") == RELEASE
    with_entry(client_jar(RELEASE), folder / client_jar(RELEASE).name, "note.txt")
    label = kept(f"{folder}/")
    assert base_of(label) == RELEASE
    assert [path.name.partition("-")[2] for path in class_path(label)] == sorted(path.name for path in folder.iterdir())


def test_a_file_holds_a_class_path_in_its_order(tmp_path: Path, jar: Path) -> None:
    """A file of ``mvn dependency:build-classpath`` is a class path in its order."""
    others = [path for path in client_class_path(RELEASE) if path != client_jar(RELEASE)]
    file = tmp_path / "classpath.txt"
    file.write_text(":".join(map(str, [*reversed(others), jar])) + "\n")
    label = kept(f"@{file}@{RELEASE}")
    assert [path.name.partition("-")[2] for path in class_path(label)] == [
        path.name for path in [*reversed(others), jar]
    ]


def test_a_jar_in_front_of_the_published_ones_makes_a_build(tmp_path: Path) -> None:
    """A jar before the published ones, such as a hot fix, makes a build."""
    folder = tmp_path / "lib"
    folder.mkdir()
    for path in client_class_path(RELEASE):
        (folder / path.name).symlink_to(path)
    with zipfile.ZipFile(folder / "000-fix.jar", "w") as fix, zipfile.ZipFile(client_jar(RELEASE)) as client:
        fix.writestr(FAULT_STRATEGY, client.read(FAULT_STRATEGY))
    label = kept(f"{folder}/")
    assert (base_of(label), is_kept(label)) == (RELEASE, True)
    assert class_path(label)[0].name == "000-000-fix.jar"


def test_a_class_path_may_have_one_jar_a_line(tmp_path: Path) -> None:
    """A class path file may have one jar per line, blank lines and any line ends."""
    file = tmp_path / "classpath.txt"
    file.write_bytes(b"\n\r\n" + "\r\n".join(map(str, client_class_path(RELEASE))).encode() + b"\n\n")
    assert kept(f"@{file}") == RELEASE


@pytest.mark.parametrize(
    ("releases", "message"),
    [
        ((), "expected RocketMQ's Java client"),
        (("5.3.2", RELEASE), r"expected one client.*client-5\.3\.2\.jar and rocketmq-client-5\.3\.3"),
        ((RELEASE,), r"all that the client needs.*saw no org/apache/rocketmq/common/message/Message\.class"),
    ],
)
def test_a_folder_without_one_complete_client_is_refused(
    tmp_path: Path, releases: tuple[str, ...], message: str
) -> None:
    """File names would decide which of two clients is loaded, and a JVM without dependencies would die at once."""
    foreign = next(path for path in client_class_path(RELEASE) if "rocketmq" not in path.name)
    for jar in map(client_jar, releases) if releases else [foreign]:
        shutil.copyfile(jar, tmp_path / jar.name)
    with pytest.raises(UsageError, match=message):
        kept(f"{tmp_path}/")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "saw no jar"),
        ("/no/such.jar", "saw no /no/such.jar"),
        ("target/classes:JARS", "expected only jars in .*; saw target/classes.*package the classes as a jar"),
        ("lib/*:JARS", r"expected only jars in .*; saw lib/\*.*package the classes as a jar"),
    ],
)
def test_a_class_path_of_other_things_than_jars_is_refused(tmp_path: Path, content: str, message: str) -> None:
    """A class path with a missing jar, a folder or a wildcard is refused: omitted classes would not be tested."""
    file = tmp_path / "classpath.txt"
    file.write_text(content.replace("JARS", ":".join(map(str, client_class_path(RELEASE)))))
    with pytest.raises(UsageError, match=message):
        kept(f"@{file}@{RELEASE}")


def test_a_relocated_client_that_kept_its_pom_is_refused(tmp_path: Path) -> None:
    """A shaded client with its pom.properties is refused, because its packages are renamed."""
    relocated = tmp_path / "relocated.jar"
    with zipfile.ZipFile(client_jar(RELEASE)) as old, zipfile.ZipFile(relocated, "w") as new:
        for entry in old.infolist():
            new.writestr(entry.filename.replace("org/apache/rocketmq/client/", "com/acme/mq/"), old.read(entry))
    with pytest.raises(UsageError, match=r"saw its pom\.properties, but no org/apache/.*exec:"):
        kept(f"{relocated}@{RELEASE}")


def test_a_subject_has_the_label_and_keeps_what_was_typed(jar: Path) -> None:
    """A subject has the build's label and keeps the typed path."""
    subject = resolved(f"java:{jar}@{RELEASE}")
    assert (str(subject), subject.spec) == (f"java:{kept(str(jar))}", f"java:{jar}@{RELEASE}")
    assert str(resolved(str(subject))) == str(subject)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("a.jar", True),
        ("x/a.jar@5.3.3", True),
        ("lib/", True),
        ("@cp.txt@5.3.3", True),
        ("5.3.3", False),
        ("5.3.3+1a2b3c4d", False),
        ("a.jar@", False),
    ],
)
def test_a_build_is_written_as_a_path(text: str, is_one: bool) -> None:
    """A build is written as a path, a release never is."""
    assert is_build(text) is is_one


def jar_with_spoilt_pom(path: Path) -> Path:
    """A jar with an intact directory and damaged content."""
    name = "META-INF/maven/org.apache.rocketmq/rocketmq-client/pom.properties"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, "version=5.3.3\n" * 50)
    content, header_bytes = path.read_bytes(), 30
    begin = header_bytes + len(name)
    path.write_bytes(content[:begin] + b"\xff" * 4 + content[begin + 4 :])
    return path


def test_a_file_that_is_no_client_jar_is_refused(tmp_path: Path, jar: Path) -> None:
    """A file that is no jar of the client is refused in one sentence with a remedy."""
    nothing, text, foreign = tmp_path / "none.jar", tmp_path / "text.jar", tmp_path / "foreign.jar"
    text.write_text("not a jar")
    with zipfile.ZipFile(foreign, "w") as archive:
        archive.writestr("com/acme/rocketmq/client/producer/DefaultMQProducer.class", b"")
    unsaid = tmp_path / "unsaid.jar"
    with zipfile.ZipFile(unsaid, "w") as archive:
        archive.writestr("org/apache/rocketmq/client/producer/DefaultMQProducer.class", b"")
    spoilt = jar_with_spoilt_pom(tmp_path / "spoilt.jar")
    for spec, reported in {
        f"{nothing}@{RELEASE}": "saw No such file or directory; try",
        f"@{nothing}@{RELEASE}": "No such file",
        f"{tmp_path}/none/@{RELEASE}": "saw No such file or directory; try",
        f"{spoilt}@{RELEASE}": "Error -3 while decompressing data",
        f"{text}@{RELEASE}": "File is not a zip file",
        f"{foreign}@{RELEASE}": "driven by a program of your own: exec:",
        f"{jar}@5.3.99": "saw 5.3.99",
        str(unsaid): "saw a jar that does not say its release",
    }.items():
        with pytest.raises(UsageError) as raised:
            kept(spec)
        assert reported in str(raised.value), spec


def test_an_unknown_label_is_refused() -> None:
    """An unknown label is refused, for example after the cache was emptied."""
    with pytest.raises(UsageError, match="a build that was named by its path before"):
        class_path("5.3.3+00000000")


def test_a_changed_constant_is_a_build_of_its_own(tmp_path: Path) -> None:
    """A changed constant is a build; tests/lab/test_builds.py shows that it is found."""
    changed = patched_jar(tmp_path / "patched.jar")
    assert kept(str(changed)) not in (RELEASE, kept(str(with_entry(client_jar(RELEASE), tmp_path / "b.jar", "b"))))
