"""`rocketdiff cluster up`, `down`: a local RocketMQ in seconds. `init`, `clean`: for clusters of users."""

import contextlib
import shlex
import threading
from pathlib import Path
from typing import Annotated

import typer

from rocketdiff.cli.examples import epilog
from rocketdiff.cli.options import MadeSecurityOption, OwnClusterOption, ServerOption
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE
from rocketdiff.core.tables.topology import DEFAULT_TOPOLOGY, TOPOLOGIES

cluster_app = typer.Typer(help="A local RocketMQ in seconds, for anyone.", no_args_is_help=True)


@cluster_app.command("up", epilog=epilog("cluster up"))
def cluster_up(
    topology: Annotated[str, typer.Option(help=f"{', '.join(TOPOLOGIES)}.")] = DEFAULT_TOPOLOGY,
    server: ServerOption = DEFAULT_RELEASE,
    port: Annotated[
        int | None, typer.Option(help="Fixed port of the (first) name server; a free one otherwise.")
    ] = None,
    cluster: OwnClusterOption = "processes",
    security: MadeSecurityOption = None,
) -> None:
    """Start a cluster on loopback, print its address, keep it until Ctrl-C or `cluster down`."""
    from rocketdiff.cli.endings import heed_ctrl_c
    from rocketdiff.cluster.up import UpState, serve
    from rocketdiff.releases.progress import PlainProgress

    def announce(state: UpState) -> None:
        typer.echo(f"RocketMQ {state.server_release}, {state.topology}, is up. Name server address:")
        typer.echo(";".join(state.name_servers))
        if state.security:
            typer.echo("The account and the TLS files of its clients, for --security:")
            typer.echo(state.security)
        typer.echo("Ctrl-C, or `rocketdiff cluster down` elsewhere, stops it.")

    heed_ctrl_c()
    # Ctrl-C, and the signal that `cluster down` sends, are the ordinary end of this command.
    with contextlib.suppress(KeyboardInterrupt):
        serve(
            threading.Event(),
            announce,
            topology=topology,
            server_release=server,
            name_server_port=port,
            progress=PlainProgress(),
            backend=cluster,
            security=security,
        )


@cluster_app.command("down", epilog=epilog("cluster down"))
def cluster_down() -> None:
    """Stop the cluster that `cluster up` keeps in another terminal."""
    from rocketdiff.cluster.up import down

    state = down()
    typer.echo("no cluster is up" if state is None else f"stopped {state.topology} of process {state.pid}")


@cluster_app.command("init", epilog=epilog("cluster init"))
def cluster_init(
    name_servers: Annotated[
        list[str], typer.Argument(metavar="NAME_SERVER...", help="Address of each name server, host:port.")
    ],
    out: Annotated[Path, typer.Option(help="The new file.")] = Path("cluster.yaml"),
    prefix: Annotated[str, typer.Option(help="Beginning of every topic and group that runs create.")] = "rocketdiff",
    security: Annotated[Path | None, typer.Option(help="File with the account and TLS of the cluster.")] = None,
) -> None:
    """Write a cluster file for your own cluster from what its name server says. Nothing on the cluster is touched."""
    from rocketdiff.cluster.external.drafted import draft, write_draft
    from rocketdiff.cluster.security_file import security_in

    file = "" if security is None else str(security)
    write_draft(out, draft(name_servers, prefix, security_in(file), file))
    option = f" --security {shlex.quote(file)}" if file else ""
    typer.echo(f"{out}: say there what may be done to each broker. Then see what a run would do:\n")
    typer.echo(f"  rocketdiff run --cluster external:{shlex.quote(str(out))}{option} --dry-run")


@cluster_app.command("clean", epilog=epilog("cluster clean"))
def cluster_clean() -> None:
    """Undo what killed runs left at your own clusters: resume and restart nodes, delete topics."""
    from rocketdiff.cluster.external.cleanup import clean

    clean(typer.echo)
