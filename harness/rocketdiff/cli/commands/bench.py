"""`rocketdiff bench`: speed on this machine of clients on a cluster, of the simulation and of judging."""

import json
from enum import StrEnum
from typing import Annotated, Any

import typer

from rocketdiff.cli.options import JsonOption, ServerOption
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE


class BenchPart(StrEnum):
    """What is measured."""

    ALL = "all"
    CLUSTER = "cluster"
    SIMULATION = "simulation"
    JUDGING = "judging"


def bench(
    release: Annotated[
        str, typer.Option(help="Release of the Java client and of the reference's dialect.")
    ] = DEFAULT_RELEASE,
    server: ServerOption = DEFAULT_RELEASE,
    sends: Annotated[int, typer.Option(min=100, help="Sends of each kind in each round.")] = 6_000,
    rounds: Annotated[int, typer.Option(min=1)] = 5,
    verdict: Annotated[bool, typer.Option(help="Time a whole quick suite too.")] = True,
    judged: Annotated[int, typer.Option(min=1_000, help="Sends of each arm in the cases that are judged.")] = 500_000,
    part: Annotated[BenchPart, typer.Option(help="What to measure.")] = BenchPart.ALL,
    as_json: JsonOption = False,
) -> None:
    """
    Measure this machine: cluster start, sends per second of each client, cost of the driver, speed of simulation and judging.
    """
    measured: dict[str, Any] = {}
    if part in (BenchPart.ALL, BenchPart.CLUSTER):
        from rocketdiff.bench.clients import bench as measure

        measured |= measure(release, server, sends, rounds, with_verdict=verdict, as_json=as_json)
    if part in (BenchPart.ALL, BenchPart.SIMULATION):
        from rocketdiff.bench.simulation import bench_simulation

        measured |= bench_simulation(as_json=as_json)
    if part in (BenchPart.ALL, BenchPart.JUDGING):
        from rocketdiff.bench.judging import bench_judging

        measured |= bench_judging(judged, as_json=as_json)
    if as_json:
        typer.echo(json.dumps(measured, indent=1))
