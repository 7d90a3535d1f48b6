"""`rocketdiff subject check`, `attach` and `init`: for authors of a client or driver."""

import secrets
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocketdiff.cli.examples import epilog
from rocketdiff.cli.options import MadeSecurityOption, ServerOption
from rocketdiff.core.errors import ExitCode, UsageError
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE
from rocketdiff.core.text.machine_line import machine_line

if TYPE_CHECKING:
    from rocketdiff.cluster.backend import Backend
    from rocketdiff.run.subject_check.finding import CheckFinding
    from rocketdiff.scenario import Scenario
    from rocketdiff.subjects.subject import Subject

ATTACH_PORT = 9877
"""Fixed, so that it can stand in the configuration of an IDE; beside the name server's."""

_CONNECTING = """\
Waiting on {address}. Start your program, under a debugger if you like, with {variable}={address} in its environment: drivers of
`subject init` for Python and Java then speak over a socket instead of stdin and stdout. Others connect like this:

  Python   runner = socket.create_connection(("127.0.0.1", {port}))
           commands, records = runner.makefile("r"), runner.makefile("w")
  Java     Socket runner = new Socket("127.0.0.1", {port});  // its streams instead of System.in and System.out
  any      socat TCP:{address} EXEC:./driver

Each trial is one connection: start the program again when asked. It may stand at a breakpoint for as long as you like: its limits of
time are lifted, its client's timeouts are {timeouts}, nothing is judged by its duration, it is never killed.
"""

subject_app = typer.Typer(
    help="For authors of clients: a driver to start from, and a check that it speaks the protocol.",
    no_args_is_help=True,
)


@subject_app.command("check", epilog=epilog("subject check"))
def subject_check(
    subject: Annotated[
        str, typer.Argument(metavar="SUBJECT", help="As for --subject: exec:./program, java:patched.jar@5.3.3.")
    ],
    server: ServerOption = DEFAULT_RELEASE,
    security: MadeSecurityOption = None,
) -> int:
    """Try each call and kind of group that a client claims on one broker, and print what is wrong; exit code 1 if anything is."""
    from rocketdiff.cluster.start import backend_named, start_cluster
    from rocketdiff.releases.progress import PlainProgress
    from rocketdiff.run.selection import require_security
    from rocketdiff.run.subject_check.check import check_subject, topology_for
    from rocketdiff.subjects.registry import resolved

    backend = backend_named("processes", server_release=server, security=security)
    asked = resolved(subject)
    require_security([asked], backend)
    asked.fetch(PlainProgress())
    typer.echo(f"{asked}: {subject}")
    with (
        _folder() as where,
        start_cluster(
            topology=topology_for(asked),
            server_release=server,
            folder=where / "cluster",
            security=security,
            progress=PlainProgress(),
        ) as cluster,
    ):
        return _shown(asked, check_subject(asked, cluster, where), where)


@subject_app.command("attach", epilog=epilog("subject attach"))
def subject_attach(
    only: Annotated[
        str, typer.Option(metavar="TEXT", help="Only trials with this text in their name, as async, paused, orderly.")
    ] = "",
    scenario: Annotated[
        str | None, typer.Option(metavar="NAME", help="Play this scenario instead, without another client to compare.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port of 127.0.0.1; 0: a free one.")] = ATTACH_PORT,
    wait: Annotated[float, typer.Option(min=1, metavar="SECONDS", help="For each connection.")] = 600.0,
    seed: Annotated[int | None, typer.Option(min=0, help="Of the scenario; drawn and printed when not given.")] = None,
    server: ServerOption = DEFAULT_RELEASE,
) -> int:
    """Check a program that you start yourself, under a debugger: it connects to a port of this machine."""
    from rocketdiff.cluster.start import backend_named
    from rocketdiff.process.attached import VARIABLE, AttachPoint
    from rocketdiff.run.subject_check.played import require_playable
    from rocketdiff.subjects.registry import attached

    def notify(text: str) -> None:
        typer.echo(f"… {text}")

    backend, played = backend_named("processes", server_release=server), _scenario_named(scenario)
    if played is not None:
        require_playable(played, backend)
    with AttachPoint(port, wait, notify) as point:
        timeouts = "an hour (half a second where the broker is paused)" if scenario is None else "those of the scenario"
        number = point.address.rpartition(":")[2]
        typer.echo(_CONNECTING.format(address=point.address, port=number, variable=VARIABLE, timeouts=timeouts))
        asked = attached(point)
        typer.echo(f"{asked} has connected.")
        with _folder() as where:
            if played is None:
                return _checked(asked, where, only, server, notify)
            drawn = secrets.randbelow(1 << 31) if seed is None else seed
            return _played(asked, where, played, drawn, backend, notify)


def _scenario_named(name: str | None) -> "Scenario | None":
    from rocketdiff.scenario import load_all, select

    return None if name is None else select(load_all(None), patterns=(name,))[0]


def _checked(asked: "Subject", where: Path, only: str, server: str, notify: Callable[[str], None]) -> int:
    from rocketdiff.cluster.start import start_cluster
    from rocketdiff.releases.progress import PlainProgress
    from rocketdiff.run.subject_check.check import check_subject, topology_for, trial_names

    names = [name for name in trial_names(asked) if only in name]
    if not names:
        known = "; ".join(trial_names(asked)) or "none, as hello claims nothing that is tried"
        raise UsageError("the name of a trial, or a part of it, after --only", seen=only, hint=known)

    def announce(name: str) -> None:
        place = names.index(name)
        notify(f"{place + 1} of {len(names)}: {name}." + " Start the program again." * (place > 0))

    with start_cluster(
        topology=topology_for(asked), server_release=server, folder=where / "cluster", progress=PlainProgress()
    ) as cluster:
        return _shown(asked, check_subject(asked, cluster, where, only, announce), where)


def _played(
    asked: "Subject", where: Path, scenario: "Scenario", seed: int, backend: "Backend", notify: Callable[[str], None]
) -> int:
    from rocketdiff.core.tables.topology import topology_named
    from rocketdiff.releases.progress import PlainProgress
    from rocketdiff.run.subject_check.played import play, require_claims

    require_claims(scenario, asked)
    typer.echo(f"{scenario.name}, seed {seed}")
    topology = topology_named(scenario.topology)
    with backend.start(topology, where / "cluster", progress=PlainProgress()) as cluster:
        return _shown(asked, play(asked, scenario, cluster, where, seed, notify), where)


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder that is removed unless ``_shown`` has kept something in it."""
    where = Path(tempfile.mkdtemp(prefix="rocketdiff-check-"))
    try:
        yield where
    finally:
        shutil.rmtree(where / "cluster", ignore_errors=True)
        with suppress(OSError):
            where.rmdir()


def _shown(asked: "Subject", findings: "Iterable[CheckFinding]", where: Path) -> int:
    """Print them and return the exit code. The subject's stderr files are kept on failure, because problems name them."""
    wrong = 0
    try:
        for finding in findings:
            wrong += bool(finding.problem)
            typer.echo(f"✗ {finding.tried}: {finding.problem}" if finding.problem else f"✓ {finding.tried}")
    finally:
        for each in where.iterdir():
            if not wrong and each.name != "cluster":
                shutil.rmtree(each, ignore_errors=True)
    typer.echo(machine_line("CHECK", "failed" if wrong else "passed", problems=wrong, subject=asked))
    return int(ExitCode.DIVERGES if wrong else ExitCode.CONFORMS)


@subject_app.command("init", epilog=epilog("subject init"))
def subject_init(
    language: Annotated[str, typer.Argument(metavar="LANGUAGE", help="java, go, node, rust or python.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new or empty folder.")],
    role: Annotated[str, typer.Option(metavar="ROLE", help="producer, or consumer (java and python).")] = "producer",
) -> int:
    """Write a starter driver that passes `subject check`; then replace the client that it drives with yours."""
    from rocketdiff.subjects.own.skeletons import write_skeleton

    skeleton = write_skeleton(language, folder, role)
    typer.echo(f"{folder / skeleton.program}: put your client in, and a name of its own into hello. Then:\n")
    for command in (f"cd {shlex.quote(str(folder))}", *skeleton.build):
        typer.echo(f"  {command}")
    typer.echo(f"  rocketdiff subject check {shlex.quote(f'exec:{skeleton.start}')}")
    return int(ExitCode.CONFORMS)
