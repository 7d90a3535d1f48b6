"""
The one place that makes a Spark session; each setting with its reason.

A Java home is taken from the environment (``JAVA_HOME``, set by whoever found a Java) or handed in. What the JVM has to
say goes into a file of the session: standard output and error belong to the caller, and errors arrive as exceptions.
"""

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

import harness
from harness.core.errors import EnvironmentMissing

LOCAL = "local[*]"

_QUIET_LOG = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n
"""
"""What Spark warns about on every start says nothing about a run."""

_LOCAL_JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""
A session of seconds on few cores: without the optimising compiler and parallel collectors, start and first query took 16
instead of 25 s on a busy machine of two. Not set for other masters, where queries are long.
"""


def settings(master: str, folder: Path) -> dict[str, str]:
    """
    Every setting of a session.

    folder: private to the session, removed with it.
    """
    chosen = {
        "spark.master": master,
        "spark.app.name": "rocketdiff",
        # No web server: nobody looks at it, and it opens a port.
        "spark.ui.enabled": "false",
        # A progress bar on a terminal that already has one of ours.
        "spark.ui.showConsoleProgress": "false",
        # No Hive metastore: no table outlives a session, and Derby writes into the working directory.
        "spark.sql.catalogImplementation": "in-memory",
        # Neither does the warehouse folder belong into the user's working directory.
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        # Facts are few; a reduce task for every core is plenty, and each more costs 5 ms of scheduling.
        "spark.sql.shuffle.partitions": "4",
        # Merges the empty ones of those, and plans by sizes it has seen.
        "spark.sql.adaptive.enabled": "true",
        # Times of this project are nanoseconds in int64; no conversion by time zone may ever apply.
        "spark.sql.session.timeZone": "UTC",
        # A new Python worker a task costs more than the judging of a case (measured: 6 instead of 15 s).
        "spark.python.worker.reuse": "true",
        # Workers must find this package also when it runs from a checkout that is not installed.
        "spark.executorEnv.PYTHONPATH": str(Path(harness.__file__).parents[1]),
    }
    return chosen | _local_settings(folder) if master.startswith("local") else chosen


def _local_settings(folder: Path) -> dict[str, str]:
    """Settings for a session that lives for seconds on the user's own machine."""
    log = folder / "log4j2.properties"
    log.write_text(_QUIET_LOG, encoding="utf-8")
    return {
        # Nothing of a run may be reachable from outside this machine,
        "spark.driver.bindAddress": "127.0.0.1",
        # and the machine's own name may resolve to an address it cannot reach.
        "spark.driver.host": "127.0.0.1",
        # Rows are few and queries new: compiling code for them costs the JVM more (3 s) than running it saves.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        # Facts of a year of runs fit; the raw rows never enter the JVM.
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": f"{_LOCAL_JAVA} -Dlog4j2.configurationFile={log.as_uri()}",
    }


@contextmanager
def session(master: str | None = None, *, java_home: Path | None = None) -> Iterator[SparkSession]:
    """
    A session that is stopped, and leaves nothing on disk, at the end of the block.

    Its JVM serves later sessions of this process and ends with it. Raises EnvironmentMissing when there is no Java to
    start it with, or the Java there is will not do.
    """
    _require_java(java_home)
    # True of this pandas and of no use to anybody: no data frame of pandas is ever made here.
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
    # The interpreter of the workers must be this one: it has the packages.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    master = master or LOCAL
    if master.startswith("local"):
        # Spark warns about a host name that resolves to loopback unless told which address it may use.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    folder = Path(tempfile.mkdtemp(prefix="rocketdiff-spark-"))
    try:
        spark = _started(SparkConf().setAll(list(settings(master, folder).items())), folder / "jvm.log")
        try:
            yield spark
        finally:
            spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _started(conf: SparkConf, log: Path) -> SparkSession:
    if SparkContext._gateway is not None:  # noqa: SLF001 - the only way to know whether this process has a JVM already
        return SparkSession.builder.config(conf=conf).getOrCreate()
    with log.open("wb") as sink:
        try:
            gateway = launch_gateway(conf, {"stderr": sink, "stdout": sink})  # type: ignore[no-untyped-call]  # pyspark's own
        except PySparkRuntimeError as problem:
            raise EnvironmentMissing(
                "a Java that Spark can start with (17 or later, with its incubator modules)",
                seen=log.read_text(encoding="utf-8", errors="replace")[-500:].strip() or str(problem),
                hint="rocketdiff doctor says which Java is used; --master none analyses without Spark",
            ) from problem
    return SparkSession(SparkContext(conf=conf, gateway=gateway))


def _require_java(java_home: Path | None) -> None:
    if java_home is not None:
        os.environ["JAVA_HOME"] = str(java_home)
    home = os.environ.get("JAVA_HOME")
    found = Path(home, "bin", "java").is_file() if home else shutil.which("java") is not None
    if not found:
        raise EnvironmentMissing(
            "a Java 17 or later for Spark",
            seen=f"JAVA_HOME={home}" if home else "no java on the path and no JAVA_HOME",
            hint="rocketdiff doctor says how to get one; --master none analyses without Spark",
        )
