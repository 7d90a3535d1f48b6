"""
Starts ahead what an analysis on Spark will need.

It imports nothing that judges, so a command can start the JVM before its own modules are loaded.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from rocketdiff.core.spark_master import WITHOUT_SPARK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def prepare(master: str | None, java_home: Path, *, is_soon: bool) -> None:
    """
    Start the JVM of the next ``analyze`` without waiting; nothing without Spark. Raises as ``analyze``.

    is_soon: ``analyze`` follows at once, so only Python workers are started, and Spark is not warmed up.
    """
    if master == WITHOUT_SPARK:
        return
    from rocketdiff.analysis.spark import session  # noqa: PLC0415 - importing Spark takes half a second

    session.prepare(master, java_home=java_home, then=_start_workers if is_soon else _warm_up)


def _start_workers(spark: "SparkSession") -> None:
    from rocketdiff.analysis.spark.distributed import start_workers  # noqa: PLC0415 - it imports all that judges

    start_workers(spark)


def _warm_up(spark: "SparkSession") -> None:
    from rocketdiff.analysis.spark.distributed import warm_up  # noqa: PLC0415 - it imports all that judges

    warm_up(spark)


def pause(master: str | None) -> None:
    """Suspend the processes that ``prepare`` started until ``go_on`` or ``analyze``."""
    if master != WITHOUT_SPARK:
        from rocketdiff.analysis.spark import session  # noqa: PLC0415 - as above

        session.pause()


def go_on(master: str | None) -> None:
    """Resume the processes that ``pause`` suspended."""
    if master != WITHOUT_SPARK:
        from rocketdiff.analysis.spark import session  # noqa: PLC0415 - as above

        session.go_on()
