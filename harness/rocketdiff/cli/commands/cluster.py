"""`rocketdiff cluster up`, `down`: a local RocketMQ in seconds. `clean`: undoes what killed runs left at external clusters."""

import contextlib
import threading
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


@cluster_app.command("clean", epilog=epilog("cluster clean"))
def cluster_clean() -> None:
    """Undo what killed runs left at your own clusters: resume and restart nodes, delete topics."""
    from rocketdiff.cluster.external.cleanup import clean

    clean(typer.echo)
