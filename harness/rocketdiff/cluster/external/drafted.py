"""A first cluster file, written from what the name servers say; its owner adds the commands."""

from collections.abc import Sequence
from pathlib import Path
from string import ascii_lowercase

from rocketdiff.cluster.access import channels_to, remedy, require_tls
from rocketdiff.cluster.operations import admin
from rocketdiff.core.errors import ClusterError, EnvironmentMissing, UsageError
from rocketdiff.core.security import Security

COMMANDS = """\
    # What may be done to it. Without these lines scenarios that pause it are left out; with kill and restart, given together, it may die.
    # pause: ssh {host} 'sudo systemctl kill --signal=STOP rocketmq-broker'
    # resume: ssh {host} 'sudo systemctl kill --signal=CONT rocketmq-broker'
    # state: ssh {host} 'ps -o stat= -p $(systemctl show -P MainPID rocketmq-broker)'
"""


def draft(name_servers: Sequence[str], prefix: str, security: Security, security_file: str = "") -> str:
    """
    Return a cluster file with all master brokers that the first name server knows. Writes nothing to the cluster.

    name_servers: ``host:port`` of each. Raises ClusterError if the first does not answer or knows no master, or more than
    the 26 that letters name.
    """
    first = name_servers[0]
    require_tls("name server", first, security, security_file)
    try:
        with channels_to(security) as channels:
            brokers = admin.registered_brokers(channels, first)
    except admin.ADMIN_ERRORS as error:
        hint = remedy(error, security, security_file) or "host:port of a name server that this machine reaches"
        raise ClusterError(f"name server {first} to report its brokers", seen=str(error), hint=hint) from error
    if not 0 < len(brokers) <= len(ascii_lowercase):
        raise ClusterError(f"1 to {len(ascii_lowercase)} master brokers at {first}", seen=str(len(brokers)))
    lines = ["format: 1", "name: ours", f"topic_prefix: {prefix}", "name_servers:"]
    lines += [f"  - address: {address}" for address in name_servers]
    lines.append("brokers:")
    for letter, (name, address) in zip(ascii_lowercase, sorted(brokers.items()), strict=False):
        lines += [f"  {letter}:", f"    name: {name}", COMMANDS.format(host=address.rpartition(":")[0]).rstrip("\n")]
    return "\n".join(lines) + "\n"


def write_draft(path: Path, text: str) -> None:
    """Write a new file. UsageError if there is one, EnvironmentMissing if the folder cannot be written."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"no file at {path} yet", seen="one", hint="name another with --out") from error
    except OSError as error:
        raise EnvironmentMissing(f"to be able to write {path}", seen=error.strerror or str(error)) from error
