"""
The file format of a cluster file, version 1: what an owner tells of a cluster that is not ours, field by field.

This is the only description of the format; ``python -m rocketdiff.cluster.external.file_format > fixtures/schema/cluster-1.json``
writes the published JSON Schema, and a test refuses a stale one. Rules that need two fields are in ``parsing``.
"""

import sys
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

FORMAT = 1

Text = Annotated[str, Meta(min_length=1)]
CommandText = Text | Annotated[list[Text], Meta(min_length=1)]
"""One text is a line for ``sh -c``; a list is a program and its arguments, with no shell between."""

Letter = Annotated[str, Meta(pattern=r"^[a-z]$")]
Address = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._-]+:[0-9]{1,5}$", description="host:port")]
TopicPrefix = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{2,39}$",
        description="Every topic that is created begins with it and a hyphen, and nothing else is ever deleted.",
    ),
]
Release = Annotated[str, Meta(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+(-[A-Za-z0-9.]+)?$")]
Seconds = Annotated[float, Meta(gt=0, le=600)]


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A mapping of the file; unknown fields are refused and nothing is converted silently."""


class NameServerPart(Part, frozen=True, kw_only=True):
    """A name server and what may be done to it; without commands nothing is."""

    address: Address
    pause: CommandText | None = None
    resume: CommandText | None = None
    state: CommandText | None = None


class BrokerPart(Part, frozen=True, kw_only=True):
    """A master broker by its brokerName, and what may be done to it; without commands nothing is."""

    name: Text
    pause: CommandText | None = None
    resume: CommandText | None = None
    kill: CommandText | None = None
    restart: CommandText | None = None
    state: CommandText | None = None


class ClusterFile(Part, frozen=True, kw_only=True):
    """One cluster. brokers: by the letter that scenarios call them by, from a on."""

    format: Literal[1]
    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    topic_prefix: TopicPrefix
    name_servers: Annotated[list[NameServerPart], Meta(min_length=1)]
    brokers: Annotated[dict[Letter, BrokerPart], Meta(min_length=1)]
    server_release: Release | None = None
    command_timeout_s: Seconds = 10.0


def schema() -> bytes:
    """JSON Schema (2020-12) of cluster files of this version."""
    body = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:rocketdiff:cluster:{FORMAT}",
        **msgspec.json.schema(ClusterFile),
    }
    return msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n"


if __name__ == "__main__":
    sys.stdout.buffer.write(schema())
