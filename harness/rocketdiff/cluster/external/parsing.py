"""From the data of a cluster file to a DescribedCluster: refused with one clear message, or right."""

from collections.abc import Iterable
from pathlib import Path

from rocketdiff.cluster.described import UNDOES, Command, DescribedCluster, DescribedNode, Verb
from rocketdiff.cluster.external.file_format import FORMAT, WORDS, BrokerPart, ClusterFile, NameServerPart
from rocketdiff.cluster.interface import Role
from rocketdiff.core.plain import shown
from rocketdiff.core.topology import broker_name, name_server_name
from rocketdiff.documents.refusal import Place, read_part, refused
from rocketdiff.documents.yaml_source import Location

_LAST_PORT = 65_535


def parse(data: object, path: Path, place: Place) -> DescribedCluster:
    """
    Check and type the data of one file.

    place: from a location in the data to ``file line 12``. Raises UsageError.
    """
    _require_format(data, place)
    file = read_part(ClusterFile, data, place, WORDS)
    _require_letters(file, place)
    _require_unique(file, place)
    name_servers = tuple(_name_server(part, number, place) for number, part in enumerate(file.name_servers))
    brokers = tuple(_broker(part, letter, place) for letter, part in sorted(file.brokers.items()))
    return DescribedCluster(
        name=file.name,
        origin=str(path),
        folder=path.resolve().parent,
        topic_prefix=file.topic_prefix,
        name_servers=name_servers,
        brokers=brokers,
        server_release=file.server_release,
        command_timeout_s=float(file.command_timeout_s),
    )


def _require_format(data: object, place: Place) -> None:
    """Before anything else: a file of another format may mean something else by every field."""
    if not isinstance(data, dict):
        seen = "nothing" if data is None else type(data).__name__
        raise refused(place, (), expected="a mapping with format, name, name_servers and brokers", seen=seen)
    version = data.get("format")
    if version != FORMAT or isinstance(version, bool):
        seen = "none" if version is None else f"format: {shown(version)}"
        hint = "this rocketdiff reads no other version of the cluster file"
        raise refused(place, ("format",), expected=f"format: {FORMAT}", seen=seen, hint=hint)


def _require_letters(file: ClusterFile, place: Place) -> None:
    """Scenarios count their brokers from a on; a gap would leave letters that mean nobody."""
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
    return DescribedNode(Role.NAME_SERVER, str(number + 1), name_server_name(number + 1), part.address, commands)


def _broker(part: BrokerPart, letter: str, place: Place) -> DescribedNode:
    return DescribedNode(Role.BROKER, letter, part.name, "", _commands(part, tuple(Verb), ("brokers", letter), place))


def _commands(
    part: NameServerPart | BrokerPart, verbs: Iterable[Verb], location: Location, place: Place
) -> dict[Verb, Command]:
    """What was given; an act and its end are both given or neither, and are not the same."""
    given = {verb: Command.of(text) for verb in verbs if (text := getattr(part, verb)) is not None}
    for act, end in UNDOES.items():
        if (act in given) != (end in given):
            there, missing = (act, end) if act in given else (end, act)
            hint = f"add {missing}: what is done to a node must be undone"
            raise refused(
                place, (*location, there), expected=f"{act} and {end} together", seen=f"{there} only", hint=hint
            )
        if act in given and given[act] == given[end]:
            raise refused(
                place,
                (*location, end),
                expected=f"two commands for {act} and {end}",
                seen=f"twice {given[end].shown!r}",
            )
    return given
