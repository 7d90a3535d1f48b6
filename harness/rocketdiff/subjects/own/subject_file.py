"""
The subject file, version 1: a subject description that does not fit into ``--subject``.

Rules that span fields are not in the schema: exactly one of ``command`` and ``java``; fields only for programs.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field

from rocketdiff.core.text.nearest import nearest_releases
from rocketdiff.documents.part import Part, published_schema
from rocketdiff.documents.refusal import Place, Words, read_part, refused, require_format
from rocketdiff.documents.yaml_source import parse_yaml, read_text
from rocketdiff.protocol.records import LONGEST_ATTEMPT_MS
from rocketdiff.releases.catalogue import client_releases, is_known_client

FORMAT = 1
FORM = "--subject ./subject.yaml"
SUFFIXES = (".yaml", ".yml")

LABEL = r"[A-Za-z][A-Za-z0-9._-]{0,39}"
"""Printed beside a subject's name, in tables too; so it is short."""

Text = Annotated[str, Field(min_length=1)]
Release = Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+(-[A-Za-z0-9.]+)?$")]
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Call = Literal[
    "plain",
    "queue",
    "selector",
    "batch",
    "group",
    "async",
    "oneway",
    "concurrent",
    "orderly",
    "clustering",
    "broadcasting",
]
"""Kinds of send, and modes except the synchronous one; listeners and message models."""


class JavaPart(Part):
    """A build of the Java client: one of jar, folder, class_path, coordinates. base: release by whose rules it is judged."""

    jar: Text | None = None
    folder: Text | None = None
    class_path: Text | None = None
    coordinates: Text | None = None
    base: Release | None = None


class SubjectFile(Part):
    """
    One subject. Paths are relative to the folder of the file; commands run there, without a shell.

    command: a program and its arguments. build: the command that builds it, run only with ``--build``. environment: variables
    added to the clean environment of every program. unsupported: calls that hello claims but that are not to be used. ledger:
    file of its declared divergences. rules: Java release by whose rules both are judged if this program is the baseline;
    required then.
    """

    format: Literal[1]
    name: Annotated[str, Field(pattern=f"^{LABEL}$")] | None = None
    command: Annotated[list[Text], Field(min_length=1)] | None = None
    java: JavaPart | None = None
    environment: dict[Variable, str] = Field(default_factory=dict)
    attempt_timeout_ms: Annotated[int, Field(ge=1, le=LONGEST_ATTEMPT_MS)] | None = None
    unsupported: list[Call] = Field(default_factory=list)
    build: Annotated[list[Text], Field(min_length=1)] | None = None
    rules: Release | None = None
    ledger: Text | None = None


WORDS = Words(
    fields={
        "format": f"format: {FORMAT}",
        "name": "a label of up to 40 letters, digits, dots, hyphens and underscores that begins with a letter",
        "command": "a list of a program and its arguments, such as [./bin/driver, --quiet]",
        "build": "a list of a program and its arguments, such as [make, driver]",
        "java": "one of jar, folder, class_path and coordinates, and base",
        "environment": "values by the name of a variable, numbers in quotes",
        "attempt_timeout_ms": f"milliseconds, a whole number from 1 to {LONGEST_ATTEMPT_MS:,}",
        "unsupported": f"a list of {', '.join(get_args(Call))}",
        "ledger": "the path of a ledger file",
        "rules": "a published release, in quotes where it could be a number",
        "base": "a published release, in quotes where it could be a number",
    }
)

_SOURCES = ("jar", "folder", "class_path", "coordinates")


@dataclass(frozen=True, slots=True)
class DescribedSubject:
    """
    Content of a subject file.

    folder: of the file. build: a build of the Java client, as after ``java:``; empty for a program. command: of a program, as
    written. build_command: builds the program; may be empty. rules: applied when it is the baseline.
    """

    folder: Path
    label: str
    build: str
    command: tuple[str, ...]
    environment: dict[str, str]
    attempt_timeout_ms: int | None
    unsupported: frozenset[str]
    build_command: tuple[str, ...]
    rules: str | None
    ledger: Path | None


def is_subject_file(text: str) -> bool:
    """True if the text is the path of a subject file."""
    return text.endswith(SUFFIXES)


def schema() -> bytes:
    """Return the JSON Schema of this version."""
    return published_schema(SubjectFile, f"subject:{FORMAT}").encode()


def read(path: Path) -> DescribedSubject:
    """Read and check one subject file; a UsageError names file, line and expectation."""
    source = parse_yaml(read_text(path, "subject file", hint=FORM), str(path))
    data, place = source.data, source.place
    require_format(data, place, FORMAT, what="subject file", holds="format, and command or java")
    file = read_part(SubjectFile, data, place, WORDS)
    folder = path.resolve().parent
    build = _build(file, folder, place)
    if file.rules is not None and not is_known_client(file.rules):
        hint = nearest_releases(file.rules, client_releases())
        raise refused(place, ("rules",), expected="a published release of the Java client", seen=file.rules, hint=hint)
    return DescribedSubject(
        folder=folder,
        label=file.name or "",
        build=build,
        command=tuple(file.command or ()),
        environment=dict(file.environment),
        attempt_timeout_ms=file.attempt_timeout_ms,
        unsupported=frozenset(file.unsupported),
        build_command=tuple(file.build or ()),
        rules=file.rules,
        ledger=None if file.ledger is None else folder / file.ledger,
    )


def _build(file: SubjectFile, folder: Path, place: Place) -> str:
    if (file.command is None) == (file.java is None):
        seen = "neither" if file.command is None else "both"
        raise refused(place, (), expected="one of command (a program) and java (a build of the Java client)", seen=seen)
    if file.java is None:
        return ""
    for name in ("environment", "unsupported", "attempt_timeout_ms", "rules"):
        if getattr(file, name):
            raise refused(
                place, (name,), expected="no such field beside java", seen=name, hint="it belongs to a program: command"
            )
    given = [name for name in _SOURCES if getattr(file.java, name) is not None]
    if len(given) != 1:
        seen = " and ".join(given) or "none"
        raise refused(place, ("java",), expected=f"one of {', '.join(_SOURCES)}", seen=seen)
    base = f"@{file.java.base}" if file.java.base else ""
    return f"{_written(given[0], getattr(file.java, given[0]), folder)}{base}"


def _written(kind: str, value: str, folder: Path) -> str:
    match kind:
        case "coordinates":
            return value
        case "folder":
            return f"{folder / value}/"
        case "class_path":
            return f"@{folder / value}"
        case _:
            return str(folder / value)
