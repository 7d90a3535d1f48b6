"""
The one place that makes a Spark session; each setting with its reason.

A Java home is taken from the environment (``JAVA_HOME``, set by whoever found a Java) or handed in. What the JVM has to
say goes into a file of the session: standard output and error belong to the caller, and errors arrive as exceptions.
"""

import atexit
import contextlib
import logging
import os
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # it comes without types
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from rocketdiff.analysis.masters import is_local, is_on_loopback, require_master
from rocketdiff.analysis.memory import KEEPS_MEMORY
from rocketdiff.analysis.spark.class_archive import LOCAL_JAVA, class_archive
from rocketdiff.analysis.spark.code_archive import code_archive
from rocketdiff.analysis.spark.process import SparkProcess, take_folder
from rocketdiff.core.errors import EnvironmentMissing, HarnessError
from rocketdiff.core.resources import import_path

LOCAL = "local[*]"

_BROKEN_OFF_S = 2.0
"""A connection breaks before the kernel has taken down the whole JVM that had it."""

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
        # Merges small partitions, and plans by sizes it has seen.
        "spark.sql.adaptive.enabled": "true",
        # Times of this project are nanoseconds in int64; no conversion by time zone may ever apply.
        "spark.sql.session.timeZone": "UTC",
        # A new Python worker a task costs more than the judging of a case (measured: 6 instead of 15 s).
        "spark.python.worker.reuse": "true",
        **{f"spark.executorEnv.{name}": value for name, value in KEEPS_MEMORY.items()},
    }
    if is_on_loopback(master):
        # Nothing of a run may be reachable from outside this machine,
        chosen["spark.driver.bindAddress"] = "127.0.0.1"
        # and the machine's own name may resolve to an address it cannot reach.
        chosen["spark.driver.host"] = "127.0.0.1"
    return chosen | _local_settings(folder) if is_local(master) else chosen


def _local_settings(folder: Path) -> dict[str, str]:
    """Settings for a session that lives for seconds on the user's own machine."""
    log = folder / "log4j2.properties"
    log.write_text(_QUIET_LOG, encoding="utf-8")
    return {
        # Workers must find this package also when it runs from a checkout that is not installed.
        "spark.executorEnv.PYTHONPATH": import_path(),
        # Time goes on while a session that is made ahead is stopped, for as long as a case lasts; its own executor is not lost then.
        "spark.network.timeout": "24h",
        # Facts are few; a reduce task for every core is plenty, and each more costs 5 ms of scheduling.
        "spark.sql.shuffle.partitions": "4",
        # Rows are few and queries new: compiling code for them costs the JVM more (3 s) than running it saves.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        # Facts of a year of runs fit; the raw rows never enter the JVM.
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": f"{' '.join(LOCAL_JAVA)} -Dlog4j2.configurationFile={log.as_uri()}",
    }


@contextmanager
def session(
    master: str | None = None, *, java_home: Path | None = None, conf: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """
    A session that is stopped at the end of the block; ``conf``: settings of the user's, which win over ours.

    Executors of a cluster get this package as an archive, and its Python from ``spark.pyspark.python`` if that is set.

    Its JVM serves later sessions of this process and ends, with all its files, before this process does, or with it if that
    is killed. Raises UsageError for a master that is none, EnvironmentMissing when there is no Java to start it with, the
    Java there is will not do, the master does not answer, or the JVM is ended from outside.
    """
    require_master(master)
    _require_java(java_home)
    conf, master = dict(conf or {}), master or LOCAL
    try:
        _await_preparation(master, conf)
        spark = _started(master, conf)
        yield spark
        _stop_meanwhile(spark)
    except HarnessError:
        _stop_active()
        raise
    except Exception as problem:
        if (ended := _how_it_ended()) is None:
            _stop_active()
            raise
        _end()
        raise EnvironmentMissing(
            "Spark's JVM to live until all is judged",
            seen=ended,
            hint="free some memory (the kernel may have ended it), then judge the run again with rocketdiff analyze RUN",
        ) from problem
    except BaseException:
        # Ctrl-C: to stop Spark in good order takes seconds, and the answer of a call that was broken off may be waiting.
        _end()
        raise


def prepare(
    master: str | None = None,
    *,
    java_home: Path | None = None,
    first: Callable[[], object] = lambda: None,
    then: Callable[[SparkSession], object] | None = None,
) -> None:
    """
    Start the next local session with its JVM, and do not wait for it; nothing happens where there is a session.

    first: done while the JVM starts; in the same thread as the rest, so that not two import the same at a time. then: done
    with the session. Errors as of ``session``, which also tells of a JVM that does not come up; those of first and then are nobody's.
    """
    global _process, _preparation  # noqa: PLW0603 - see there
    require_master(master)
    master = master or LOCAL
    is_there = _preparation is not None or SparkContext._active_spark_context is not None  # noqa: SLF001 - see _stop_active
    if is_there or not is_local(master):
        threading.Thread(target=first, name="ahead", daemon=True).start()
        return
    _require_java(java_home)
    if _process is None or _process.has_ended():
        _end()
        _set_environment(master, {})
        _process = _launched(master, {})
    _preparation = threading.Thread(target=_prepared, args=(master, first, then), name="spark-ahead", daemon=True)
    _preparation.start()


def pause() -> None:
    """Stop a JVM that is being prepared, and all it has started, until ``go_on``: it takes no processor from anybody meanwhile."""
    if _process is not None:
        _process.pause()


def go_on() -> None:
    """Let it run again."""
    if _process is not None:
        _process.go_on()


_process: SparkProcess | None = None
"""The one JVM of this process: pyspark's own state is global too."""

_preparation: threading.Thread | None = None
"""Makes the session of a JVM that ``prepare`` has started."""

_stopping: threading.Thread | None = None
"""Stops the last session."""

_has_served = False
"""Whether the JVM has seen a session to its end: only then it knows the classes that an archive shall have."""


def _prepared(master: str, first: Callable[[], object], then: Callable[[SparkSession], object] | None) -> None:
    with contextlib.suppress(Exception):  # whoever needs the session says what is wrong
        first()
        spark = _started(master, {})
        if then is not None:
            then(spark)


def _await_preparation(master: str, conf: Mapping[str, str]) -> None:
    """Wait for the session that is being made, if one is, and stop it if it is another one than is wanted now."""
    global _preparation  # noqa: PLW0603 - see there
    if _preparation is not None:
        go_on()
        _preparation.join()
        _preparation = None
        context = SparkContext._active_spark_context  # noqa: SLF001 - see _stop_active
        if context is not None and (conf or context.master != master):
            _stop_active()


def _set_environment(master: str, conf: Mapping[str, str]) -> None:
    """What pyspark reads from there."""
    # The interpreter of the workers must be this one: it has the packages.
    os.environ["PYSPARK_PYTHON"] = conf.get("spark.pyspark.python", sys.executable)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if is_local(master):
        # Spark warns about a host name that resolves to loopback unless told which address it may use.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def _stop_meanwhile(spark: SparkSession) -> None:
    """
    Stop a session, a local one without waiting the second that this takes.

    What it told is here, and its JVM can be killed at any time.
    """
    global _stopping, _has_served  # noqa: PLW0603 - see there
    if not is_local(str(spark.sparkContext.master)):
        spark.stop()
        return
    _has_served = True
    _stopping = threading.Thread(target=_stop, args=(spark,), name="spark-stop", daemon=True)
    _stopping.start()


def _stop(spark: SparkSession) -> None:
    with contextlib.suppress(Exception):
        spark.stop()


def _await_stop() -> None:
    global _stopping  # noqa: PLW0603 - see there
    if _stopping is not None:
        _stopping.join()
        _stopping = None


def _started(master: str, conf: Mapping[str, str]) -> SparkSession:
    global _process  # noqa: PLW0603 - see there
    _await_stop()
    _set_environment(master, conf)
    # True of this pandas and of no use to anybody: no data frame of pandas is ever made here.
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
    # Of a session whose JVM is killed while it is being stopped.
    warnings.filterwarnings("ignore", message="Unable to cleanly shutdown Spark JVM", category=RuntimeWarning)
    if _process is None or _process.has_ended():
        _end()
        _process = _launched(master, conf)
    chosen = SparkConf().setAll(list({**settings(master, _process.folder), **conf}.items()))
    if SparkContext._gateway is not None:  # noqa: SLF001 - whether this process is connected with its JVM
        return _with_our_code(SparkSession.builder.config(conf=chosen).getOrCreate(), master, _process.folder)
    _silence_py4j()
    gateway = _gateway(*_process.connection())
    handler = signal.getsignal(signal.SIGINT)
    try:
        context = SparkContext(conf=chosen, gateway=gateway)
        _silence(context)
        return _with_our_code(SparkSession(context), master, _process.folder)
    except Py4JJavaError as problem:
        raise EnvironmentMissing(
            f"a Spark master at {master}",
            seen=str(problem.java_exception)[:300],
            hint="--master none judges without Spark",
        ) from problem
    finally:
        # SparkContext puts a handler of its own, which asks the JVM first, in the place of whoever answers for Ctrl-C here.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)


def _launched(master: str, conf: Mapping[str, str]) -> SparkProcess:
    folder = take_folder()
    chosen = list({**settings(master, folder), **conf}.items())
    return SparkProcess(chosen, folder, class_archive(folder) if is_local(master) else None)


def _with_our_code(spark: SparkSession, master: str, folder: Path) -> SparkSession:
    """Ship this package to executors elsewhere, which need nothing of ours then but the packages that it uses."""
    if not is_local(master):
        spark.sparkContext.addPyFile(str(code_archive(folder)))
    return spark


def _silence(context: SparkContext) -> None:
    """
    Let nobody print tracebacks when the JVM is gone, or Ctrl-C breaks off a call.

    Pyspark's server and py4j write theirs on standard error, beside the exception that comes up to us all the same.
    """
    # Set, not overridden: pyspark makes the server itself.
    setattr(context._accumulatorServer, "handle_error", lambda *_: None)  # noqa: B010, SLF001


def _silence_py4j() -> None:
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_is_not_of_py4j)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    """Py4j logs broken-off calls with the root logger."""
    return "py4j" not in Path(record.pathname).parts


def _gateway(port: int, secret: str) -> Any:
    """Pyspark's end of a JVM that is there already."""
    told = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
    os.environ.update(told)
    try:
        return launch_gateway()  # type: ignore[no-untyped-call]  # pyspark's own
    finally:
        for name in told:
            del os.environ[name]


def _how_it_ended() -> str | None:
    """In words, if the JVM has; None while it lives or was never there. A broken connection may be seen before its end."""
    if _process is None or not _process.has_ended(_BROKEN_OFF_S):
        return None
    return _process.how_it_ended()


def _stop_active() -> None:
    context = SparkContext._active_spark_context  # noqa: SLF001 - the only way to ask without making one
    if context is not None:
        context.stop()


@atexit.register
def _finish() -> None:
    """End the JVM as ``_end`` does; one that shall write its class archive does so first."""
    with contextlib.suppress(KeyboardInterrupt):
        if _process is not None and _has_served:  # one that served nobody knows no classes
            _process.write_archive()
    _end()


def _end() -> None:
    """End the JVM with everything it has started, and forget it, so that a next session begins anew."""
    global _process, _has_served  # noqa: PLW0603 - see there
    if _process is None:
        return
    _has_served = False
    # Pyspark, asked to stop by its own means, would try to reach what is gone and log that it cannot.
    context, SparkContext._active_spark_context = SparkContext._active_spark_context, None  # noqa: SLF001
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
    SparkSession._instantiatedSession = SparkSession._activeSession = None  # noqa: SLF001
    if context is not None:
        context._jsc = None  # noqa: SLF001
    _process.end()
    _process = None


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
