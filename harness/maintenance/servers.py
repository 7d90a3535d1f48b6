"""
Starts name server and broker of each release in the lock, and tries the Java client and the reference of that release on them.

    python -m maintenance.servers            every release, one at a time; some twenty seconds each
    python -m maintenance.servers 4.3.0      these

A client sends, also while the broker is paused. Prints a table and exits 1 if a release fails; such a release belongs into
``WITHOUT_SERVERS`` of ``releases/artifacts/relock.py``, with its reason.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.start import start_cluster
from rocketdiff.core.errors import HarnessError
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.text.quoted import printable
from rocketdiff.releases.catalogue import line_key
from rocketdiff.releases.lock import locked
from rocketdiff.run.subject_check.check import check_subject
from rocketdiff.subjects.registry import known_subjects, resolved
from rocketdiff.subjects.subject import Subject

CLIENTS = ("java", "python")

READY_S = 300.0
"""A broker starts within five seconds on a quiet machine; this one is shared."""

_SHOWN_CHARACTERS = 160


def fitting(client: str, server_release: str) -> str:
    """Return the client's newest release that is not younger than the servers, as ``client:release``."""
    not_younger = [one for one in known_subjects()[client] if line_key(one) <= line_key(server_release)]
    return f"{client}:{max(not_younger, key=line_key)}"


def plain_only(spec: str) -> Subject:
    """Return a subject that claims nothing but plain sends: other calls are the client's matter, not the servers'."""
    return replace(resolved(spec), kind=None, capabilities=frozenset({SendKind.PLAIN}))


def problems_of(server_release: str, folder: Path) -> Iterator[str]:
    """Start the servers of a release, and yield what went wrong with them."""
    try:
        with start_cluster("processes", "one-master", server_release, folder=folder, timeout_s=READY_S) as cluster:
            for client in CLIENTS:
                yield from client_problems(fitting(client, server_release), cluster, folder)
    except HarnessError as error:
        yield f"{type(error).__name__}: {printable(str(error), _SHOWN_CHARACTERS)}"


def client_problems(spec: str, cluster: Cluster, folder: Path) -> Iterator[str]:
    """Yield what a client found wrong; a paused broker must not acknowledge."""
    resolved(spec).fetch(None)
    for finding in check_subject(plain_only(spec), cluster, folder / spec.replace(":", "-")):
        if finding.problem:
            yield f"{spec}: {finding.tried}: {printable(finding.problem, _SHOWN_CHARACTERS)}"


def main() -> int:
    """Print a row for each release; return 1 if one failed."""
    parser = argparse.ArgumentParser(prog="python -m maintenance.servers", description=__doc__.split("\n\n")[0])
    parser.add_argument("releases", nargs="*", help="releases of servers; all in the lock by default")
    chosen = parser.parse_args().releases or tuple(locked().servers)
    _put("| Servers | Clients | Problems |\n|---|---|---|")
    has_failed = False
    for release in chosen:
        with tempfile.TemporaryDirectory(prefix="rocketdiff-servers-") as folder:
            problems = list(problems_of(release, Path(folder) / "cluster"))
        has_failed |= bool(problems)
        clients = ", ".join(fitting(client, release) for client in CLIENTS)
        _put(f"| {release} | {clients} | {'; '.join(problems) or 'none'} |")
    return 1 if has_failed else 0


def _put(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
