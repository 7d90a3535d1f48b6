"""
Selects the JDK for servers, clients and Spark: the machine's own if suitable, else one exact build, downloaded by cjdk.

It must be a JDK (the driver is compiled here) of 17 or later with `jdk.incubator.vector`, without which Spark 4.3 does
not start. 17 and 21 are preferred: Spark and the old clients are tested with these. A downloaded archive is compared with
its digest below; the path of the JDK is stored, so later runs need no network.
"""

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.releases.cache import cache_dir, exclusive, unwritable
from rocketdiff.releases.progress import Notice, PlainProgress, ProgressListener
from rocketdiff.releases.unreachable import reason_of

JAVA_VARIABLE = "ROCKETDIFF_JAVA_HOME"
PREFERRED_VERSIONS = (17, 21)
OLDEST_VERSION = 17
NEEDED_MODULE = "jdk.incubator.vector"
FETCHED_VERSION = "17.0.19+10"
_FETCHED_FROM = "tgz+https://github.com/adoptium/temurin17-binaries/releases/download/jdk-{tag}/OpenJDK17U-jdk_{machine}_linux_hotspot_{file}.tar.gz"
_FETCHED_SHA256 = {
    "x64": "d8afc263758141a66e0e3aafc321e783f7016696f4eaea067d340a269037d331",
    "aarch64": "83a52172678ec8975164648654869cb2e71d7c748b47aca94b29bbfa10c18e81",
}
"""As Adoptium's own images compare them (adoptium/containers, 17/jdk/ubuntu, 2026-08)."""

_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "aarch64", "arm64": "aarch64"}
# Folders of package systems and common installers, each with one folder per JDK.
_STANDARD_PARENTS = ("/usr/lib/jvm", "/usr/java", "/opt", "/opt/java", "~/.jdks", "~/.sdkman/candidates/java")
_MACOS_PARENT = "/Library/Java/JavaVirtualMachines"


@dataclass(frozen=True, slots=True)
class JavaHome:
    """A usable JDK. version: the feature version (17, 21, …)."""

    home: Path
    version: int
    java: Path
    javac: Path


@dataclass(frozen=True, slots=True)
class UnfitJava:
    """An unsuitable Java and the reason."""

    home: Path
    reason: str


def find_java(listener: ProgressListener | None = None) -> JavaHome:
    """
    The JDK to use: `$ROCKETDIFF_JAVA_HOME`, else the best on this machine, else a downloaded one.

    EnvironmentMissing names the candidates and what each lacks.
    """
    found, unfit = local_java()
    if found is not None:
        return found
    fetched = judged(_fetched_home(listener or PlainProgress(), in_words(unfit)))
    if isinstance(fetched, UnfitJava):
        raise EnvironmentMissing(
            f"a JDK of {OLDEST_VERSION} or later", seen=in_words([*unfit, fetched]), hint=f"set {JAVA_VARIABLE}"
        )
    return fetched


def local_java() -> tuple[JavaHome | None, list[UnfitJava]]:
    """The JDK to use without a network (None if none is suitable), and the unsuitable ones."""
    named = os.environ.get(JAVA_VARIABLE)
    if named:
        return _named_by_user(Path(named).expanduser()), []
    examined = machine_javas()
    fitting = [java for java in examined if isinstance(java, JavaHome)]
    unfit = [java for java in examined if isinstance(java, UnfitJava)]
    return min(fitting, key=_preference, default=None), unfit


def machine_javas() -> list[JavaHome | UnfitJava]:
    """Every Java in JAVA_HOME, PATH and the standard folders, each once, in this order."""
    homes = dict.fromkeys(home.resolve() for home in _candidate_homes() if (home / "bin" / "java").exists())
    return [judged(home) for home in homes]


def judged(home: Path) -> JavaHome | UnfitJava:
    """Check a Java by its `release` file, without starting it."""
    facts = _release_facts(home)
    version = _feature_version(facts.get("JAVA_VERSION", ""))
    java, javac = home / "bin" / "java", home / "bin" / "javac"
    if not java.exists():
        return UnfitJava(home, "there is no bin/java")
    if version is None:
        return UnfitJava(home, "its release file names no version")
    if version < OLDEST_VERSION:
        return UnfitJava(home, f"version {version} is older than {OLDEST_VERSION}")
    if not javac.exists():
        return UnfitJava(home, "it has no compiler (a JRE, or a headless package without the -jdk part)")
    if NEEDED_MODULE not in facts.get("MODULES", NEEDED_MODULE).split():
        return UnfitJava(home, f"it lacks the module {NEEDED_MODULE}")
    return JavaHome(home, version, java, javac)


def _named_by_user(home: Path) -> JavaHome:
    java = judged(home)
    if isinstance(java, UnfitJava):
        raise EnvironmentMissing(f"{JAVA_VARIABLE} to name a JDK of {OLDEST_VERSION} or later", seen=in_words([java]))
    return java


def in_words(unfit: list[UnfitJava]) -> str:
    """The unsuitable ones and why, in one line."""
    return (
        "; ".join(f"{java.home}: {java.reason}" for java in unfit)
        or "no Java in JAVA_HOME, PATH or the standard folders"
    )


def _preference(java: JavaHome) -> tuple[int, int]:
    """Sort key: preferred versions first (equal, so the first found wins), then older versions first."""
    return (0, 0) if java.version in PREFERRED_VERSIONS else (1, java.version)


def _candidate_homes() -> Iterator[Path]:
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"])
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path).resolve().parent.parent
    for parent in _STANDARD_PARENTS:
        yield from sorted(Path(parent).expanduser().glob("*"))
    for bundle in sorted(Path(_MACOS_PARENT).glob("*")):
        yield bundle / "Contents" / "Home"


def _release_facts(home: Path) -> dict[str, str]:
    try:
        text = (home / "release").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    pairs = (line.partition("=") for line in text.splitlines())
    return {name: value.strip('"') for name, _, value in pairs}


def _feature_version(version: str) -> int | None:
    """`17.0.15` → 17; `1.8.0_402` → 8, the notation up to Java 8."""
    parts = version.replace("-", ".").split(".")
    number = parts[1] if parts[0] == "1" and len(parts) > 1 else parts[0]
    return int(number) if number.isdigit() else None


def _fetched_home(listener: ProgressListener, why: str) -> Path:
    """Download the JDK if missing. why: why no JDK of the machine is suitable."""
    # cjdk imports a web client, which machines with a JDK do not need.
    import cjdk  # noqa: PLC0415

    folder = _jdk_folder()
    url, sha256 = _build_for_this_machine(why)
    with exclusive(folder, lambda: listener(Notice("waiting: another rocketdiff is fetching a JDK"))):
        kept = kept_home()
        if kept is not None:
            return kept
        listener(Notice(f"no JDK here fits ({why}); fetching Temurin {FETCHED_VERSION}, about 190 MiB, into {folder}"))
        try:
            package = cjdk.cache_package(
                f"JDK {FETCHED_VERSION}", url, sha256=sha256, cache_dir=folder, progress=sys.stderr.isatty()
            )
            home = next(package.glob("**/bin/java")).parent.parent
            _keep(home)
        except (cjdk.CjdkError, StopIteration) as error:
            raise _not_to_be_had(why, reason_of(error) or "it holds no bin/java") from error
        except OSError as error:
            raise unwritable(folder, error) from error
    return home


def _build_for_this_machine(why: str) -> tuple[str, str]:
    """URL and digest of the build; raises EnvironmentMissing where none is known."""
    machine = _MACHINES.get(platform.machine().lower(), "")
    if sys.platform != "linux" or machine not in _FETCHED_SHA256:
        raise _not_to_be_had(why, f"no digest of a JDK for {platform.system()} on {platform.machine()} is known")
    tag, file = FETCHED_VERSION.replace("+", "%2B"), FETCHED_VERSION.replace("+", "_")
    return _FETCHED_FROM.format(tag=tag, machine=machine, file=file), _FETCHED_SHA256[machine]


def _not_to_be_had(why: str, reason: str) -> EnvironmentMissing:
    return EnvironmentMissing(
        "a JDK of 17 or later (17 or 21 preferred) on this machine, or a network to fetch one from",
        seen=f"{why}; fetching one failed: {' '.join(reason.split())[:200]}",
        hint="install one (Debian, Ubuntu: apt-get install openjdk-17-jdk-headless) "
        "or set ROCKETDIFF_JAVA_HOME to one that is there",
    )


def kept_home() -> Path | None:
    """The JDK that an earlier run downloaded, if it still exists."""
    try:
        home = _jdk_folder() / _kept_file().read_text(encoding="utf-8")
    except OSError:
        return None
    return home if (home / "bin" / "java").exists() else None


def _keep(home: Path) -> None:
    """Later runs find it without cjdk, whose import takes a while."""
    _kept_file().write_text(str(home.relative_to(_jdk_folder())), encoding="utf-8")


def _jdk_folder() -> Path:
    return cache_dir() / "jdk"


def _kept_file() -> Path:
    return _jdk_folder() / "home.txt"
