"""`rocketdiff bench`: speed on this machine, of clients on a cluster and of the simulation."""

import json
from enum import StrEnum
from typing import Annotated, Any

import typer

from rocketdiff.cli.options import JsonOption, ServerOption
from rocketdiff.core.run_options import DEFAULT_RELEASE


class Part(StrEnum):
    """What is measured."""

    ALL = "all"
    CLUSTER = "cluster"
    SIMULATION = "simulation"


def bench(
    release: Annotated[
        str, typer.Option(help="Release of the Java client and of the reference's dialect.")
    ] = DEFAULT_RELEASE,
    server: ServerOption = DEFAULT_RELEASE,
    sends: Annotated[int, typer.Option(min=100, help="Sends of each kind in each round.")] = 6_000,
    rounds: Annotated[int, typer.Option(min=1)] = 5,
    verdict: Annotated[bool, typer.Option(help="Time a whole quick suite too.")] = True,
    part: Annotated[Part, typer.Option(help="What to measure.")] = Part.ALL,
    as_json: JsonOption = False,
) -> None:
    """Measure this machine: cluster start, sends a second of each client, cost of the driver, speed of the simulation."""
    measured: dict[str, Any] = {}
    if part is not Part.SIMULATION:
        from rocketdiff.bench.clients import bench as measure

        measured |= measure(release, server, sends, rounds, with_verdict=verdict, as_json=as_json)
    if part is not Part.CLUSTER:
        from rocketdiff.bench.simulation import bench_simulation

        measured |= bench_simulation(as_json=as_json)
    if as_json:
        typer.echo(json.dumps(measured, indent=1))
