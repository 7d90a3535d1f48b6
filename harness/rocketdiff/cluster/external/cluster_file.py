"""
The cluster file, version 1: its format, its JSON Schema, and the reader that returns a DescribedCluster.

Rules on two fields are not in the schema: ``_require_letters``, ``_require_unique``, ``_commands``.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from rocketdiff.cluster.external.described import UNDONE_BY, DescribedCluster, DescribedNode, OwnersCommand, Verb
from rocketdiff.core.tables.topology import NodeKind, broker_name, name_server_name
from rocketdiff.documents.part import Part, published_schema
from rocketdiff.documents.refusal import Place, Words, read_part, refused, require_format
from rocketdiff.documents.yaml_source import Location, parse_yaml, read_text

FORM = "--cluster external:cluster.yaml"
"""An example of the option."""

FORMAT = 1
_LAST_PORT = 65_535

Text = Annotated[str, Field(min_length=1)]
CommandText = Text | Annotated[list[Text], Field(min_length=1)]
"""A string is a line for ``sh -c``, a list a program and its arguments without a shell."""

Letter = Annotated[str, Field(pattern=r"^[a-z]$")]
Address = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+:[0-9]{1,5}$", description="host:port")]
TopicPrefix = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{2,39}$",
        description="Every topic that is created begins with it and a hyphen, and nothing else is ever deleted.",
    ),
]
Release = Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+(-[A-Za-z0-9.]+)?$")]
Seconds = Annotated[float, Field(gt=0, le=600)]


class NameServerPart(Part):
    """A name server and the commands that may be run on it."""

    address: Address
    pause: CommandText | None = None
    resume: CommandText | None = None
    state: CommandText | None = None


class BrokerPart(Part):
    """A master broker by its brokerName, and the commands that may be run on it."""

    name: Text
    pause: CommandText | None = None
    resume: CommandText | None = None
    kill: CommandText | None = None
    restart: CommandText | None = None
    state: CommandText | None = None


class ClusterFile(Part):
    """One cluster. brokers: by the letter that scenarios use, from a."""

    format: Literal[1]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    topic_prefix: TopicPrefix
    name_servers: Annotated[list[NameServerPart], Field(min_length=1)]
    brokers: Annotated[dict[Letter, BrokerPart], Field(min_length=1, json_schema_extra={"additionalProperties": False})]
    server_release: Release | None = None
    command_timeout_s: Seconds = 10.0


_COMMAND = "a command: a line for the shell, or a list of a program and its arguments"
WORDS = Words(
    fields={
        "format": f"format: {FORMAT}",
        "name": "a name of letters, digits, dots, hyphens and underscores",
        "topic_prefix": "3 to 40 letters, digits, hyphens and underscores",
        "address": "an address such as 10.0.0.5:9876",
        "name_servers": "a list of at least one name server",
        "brokers": "brokers by letter, such as a: {name: broker-a}",
        "server_release": "a release such as 5.3.3, in quotes where it could be a number",
        "command_timeout_s": "seconds, more than 0 and at most 600",
    }
    | dict.fromkeys(("pause", "resume", "kill", "restart", "state"), _COMMAND)
)


def schema() -> bytes:
    """JSON Schema of this version of the cluster file."""
    return published_schema(ClusterFile, f"cluster:{FORMAT}").encode()


def read(path: Path) -> DescribedCluster:
    """Read and check a cluster file. Raises UsageError with the file, the line and what was expected there."""
    source = parse_yaml(read_text(path, "cluster file", hint=FORM), str(path))
    data, place = source.data, source.place
    require_format(data, place, FORMAT, what="cluster file", holds="format, name, name_servers and brokers")
    file = read_part(ClusterFile, data, place, WORDS)
    _require_letters(file, place)
    _require_unique(file, place)
    return DescribedCluster(
        name=file.name,
        origin=str(path),
        folder=path.resolve().parent,
        topic_prefix=file.topic_prefix,
        name_servers=tuple(_name_server(part, number, place) for number, part in enumerate(file.name_servers)),
        brokers=tuple(_broker(part, letter, place) for letter, part in sorted(file.brokers.items())),
        server_release=file.server_release,
        command_timeout_s=float(file.command_timeout_s),
    )


def _require_letters(file: ClusterFile, place: Place) -> None:
    """Scenarios name brokers from a; a gap would leave a letter without a broker."""
    letters = sorted(file.brokers)
    expected = [chr(ord("a") + number) for number in range(len(letters))]
    if letters != expected:
        raise refused(
            place, ("brokers",), expected=f"the letters {', '.join(expected)}", seen=", ".join(letters), hint="no gaps"
        )
    for letter, part in file.brokers.items():
        others = {broker_name(other) for other in letters} - {broker_name(letter)}
        if part.name in others:
            hint = f"swap the letters: faults of a scenario's broker {part.name[-1]} would hit another"
            raise refused(
                place,
                ("brokers", letter, "name"),
                expected="no name that means another letter in scenarios",
                seen=part.name,
                hint=hint,
            )


def _require_unique(file: ClusterFile, place: Place) -> None:
    names = [(("brokers", letter, "name"), part.name) for letter, part in file.brokers.items()]
    addresses = [(("name_servers", number, "address"), part.address) for number, part in enumerate(file.name_servers)]
    for what, found in (("broker", names), ("name server", addresses)):
        seen: set[str] = set()
        for location, value in found:
            if value in seen:
                raise refused(place, location, expected=f"each {what} once", seen=f"{value} again")
            seen.add(value)


def _name_server(part: NameServerPart, number: int, place: Place) -> DescribedNode:
    location: Location = ("name_servers", number)
    if not 1 <= int(part.address.rpartition(":")[2]) <= _LAST_PORT:
        raise refused(place, (*location, "address"), expected="a port from 1 to 65535", seen=part.address)
    commands = _commands(part, (Verb.PAUSE, Verb.RESUME, Verb.STATE), location, place)
    return DescribedNode(NodeKind.NAME_SERVER, str(number + 1), name_server_name(number + 1), part.address, commands)


def _broker(part: BrokerPart, letter: str, place: Place) -> DescribedNode:
    return DescribedNode(
        NodeKind.BROKER, letter, part.name, "", _commands(part, tuple(Verb), ("brokers", letter), place)
    )


def _commands(
    part: NameServerPart | BrokerPart, verbs: Iterable[Verb], location: Location, place: Place
) -> dict[Verb, OwnersCommand]:
    """Return the given commands. An action and its undo are given together or not at all, and differ."""
    given = {verb: OwnersCommand.of(text) for verb in verbs if (text := getattr(part, verb)) is not None}
    for action, undo in UNDONE_BY.items():
        if (action in given) != (undo in given):
            there, missing = (action, undo) if action in given else (undo, action)
            hint = f"add {missing}: what is done to a node must be undone"
            raise refused(
                place, (*location, there), expected=f"{action} and {undo} together", seen=f"{there} only", hint=hint
            )
        if action in given and given[action] == given[undo]:
            raise refused(
                place,
                (*location, undo),
                expected=f"two commands for {action} and {undo}",
                seen=f"twice {given[undo].shown!r}",
            )
    return given
