"""
The file format of a cluster file, version 1: what an owner tells of a cluster that is not ours, field by field.

This is the only description of the format; ``python -m rocketdiff.cluster.external.file_format > fixtures/schema/cluster-1.json``
writes the published JSON Schema, and a test refuses a stale one. Rules that need two fields are in ``parsing``.
"""

import sys
from typing import Annotated, Literal

from pydantic import Field

from rocketdiff.documents.part import Part, published_schema
from rocketdiff.documents.refusal import Words

FORMAT = 1

Text = Annotated[str, Field(min_length=1)]
CommandText = Text | Annotated[list[Text], Field(min_length=1)]
"""One text is a line for ``sh -c``; a list is a program and its arguments, with no shell between."""

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
    """A name server and what may be done to it; without commands nothing is."""

    address: Address
    pause: CommandText | None = None
    resume: CommandText | None = None
    state: CommandText | None = None


class BrokerPart(Part):
    """A master broker by its brokerName, and what may be done to it; without commands nothing is."""

    name: Text
    pause: CommandText | None = None
    resume: CommandText | None = None
    kill: CommandText | None = None
    restart: CommandText | None = None
    state: CommandText | None = None


class ClusterFile(Part):
    """One cluster. brokers: by the letter that scenarios call them by, from a on."""

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
    """JSON Schema of cluster files of this version."""
    return published_schema(ClusterFile, f"cluster:{FORMAT}").encode()


if __name__ == "__main__":
    sys.stdout.buffer.write(schema())
