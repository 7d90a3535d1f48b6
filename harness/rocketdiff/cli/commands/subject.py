"""`rocketdiff subject check` and `init`: for authors of a client or driver."""

import shlex
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from rocketdiff.cli.examples import epilog
from rocketdiff.cli.options import MadeSecurityOption, ServerOption
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE
from rocketdiff.core.text.machine_line import machine_line

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
    wrong = 0
    where = Path(tempfile.mkdtemp(prefix="rocketdiff-check-"))
    try:
        with start_cluster(
            topology=topology_for(asked),
            server_release=server,
            folder=where / "cluster",
            security=security,
            progress=PlainProgress(),
        ) as cluster:
            for finding in check_subject(asked, cluster, where):
                wrong += bool(finding.problem)
                typer.echo(f"✗ {finding.tried}: {finding.problem}" if finding.problem else f"✓ {finding.tried}")
    finally:
        # On failure the subject's stderr files are kept, because the problems name them.
        shutil.rmtree(where / "cluster" if wrong else where, ignore_errors=True)
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
