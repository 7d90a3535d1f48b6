"""
Makes Spark sessions.

Output of the JVM goes into a file of the session, because standard output and error belong to the caller.
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
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # it comes without types
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from rocketdiff.analysis.memory import KEEPS_MEMORY
from rocketdiff.analysis.spark.class_archive import LOCAL_JAVA, class_archive
from rocketdiff.analysis.spark.process import SparkProcess, take_folder
from rocketdiff.core.errors import EnvironmentMissing, HarnessError
from rocketdiff.core.resources import FOLDER_OF, import_path, resource
from rocketdiff.core.spark_master import is_local, is_on_loopback, require_master

LOCAL = "local[*]"

_BROKEN_OFF_S = 2.0
"""Wait for the end of a JVM whose connection broke: the kernel removes the process later."""

_QUIET_LOG = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n
"""
"""Log configuration without warnings: Spark prints irrelevant ones on every start."""


def settings(master: str, folder: Path) -> dict[str, str]:
    """
    Return every setting of a session.

    folder: private to the session, removed with it.
    """
    chosen = {
        "spark.master": master,
        "spark.app.name": "rocketdiff",
        # No web server: it is not used, and it opens a port.
        "spark.ui.enabled": "false",
        # The terminal already shows our own progress bar.
        "spark.ui.showConsoleProgress": "false",
        # No Hive metastore: no table outlives a session, and Derby writes into the working directory.
        "spark.sql.catalogImplementation": "in-memory",
        # Keep the warehouse folder out of the user's working directory.
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        # Merges small partitions, and plans by observed sizes.
        "spark.sql.adaptive.enabled": "true",
        # All times are nanoseconds in int64; time zones must never be applied.
        "spark.sql.session.timeZone": "UTC",
        # A new Python worker per task costs more than judging a case (measured: 6 s with reuse, 15 s without).
        "spark.python.worker.reuse": "true",
        **{f"spark.executorEnv.{name}": value for name, value in KEEPS_MEMORY.items()},
    }
    if is_on_loopback(master):
        # The driver must not be reachable from outside this machine.
        chosen["spark.driver.bindAddress"] = "127.0.0.1"
        # The host name may resolve to an address that is unreachable.
        chosen["spark.driver.host"] = "127.0.0.1"
    return chosen | _local_settings(folder) if is_local(master) else chosen


def _local_settings(folder: Path) -> dict[str, str]:
    log = folder / "log4j2.properties"
    log.write_text(_QUIET_LOG, encoding="utf-8")
    return {
        # Workers must find this package even in a checkout that is not installed.
        "spark.executorEnv.PYTHONPATH": import_path(),
        "spark.python.daemon.module": "rocketdiff.analysis.spark.worker_daemon",
        # A session prepared ahead is suspended for the length of a case; Spark must not count its executor as lost.
        "spark.network.timeout": "24h",
        # Rows are few and queries new: compiling them costs the JVM 3 s, more than it saves.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        # The facts of a year of runs fit; raw rows never enter the JVM.
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": f"{' '.join(LOCAL_JAVA)} -Dlog4j2.configurationFile={log.as_uri()}",
    }


@contextmanager
def session(
    master: str | None = None, *, java_home: Path | None = None, conf: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """
    Open a session and stop it at the end of the block. conf: settings of the user, which override ours.

    Executors of a cluster get this package as an archive; their Python is ``spark.pyspark.python`` if set.

    The JVM serves later sessions of this process and ends with it, even if it is killed. Raises UsageError for an invalid
    master; EnvironmentMissing if there is no usable Java, the master does not answer, or the JVM is killed from outside.
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
            "Spark's JVM running until the analysis ends",
            seen=ended,
            hint="free some memory (the kernel may have ended it), then judge the run again with rocketdiff analyze RUN",
        ) from problem
    except BaseException:
        # Ctrl-C: an orderly stop of Spark takes seconds, and the gateway may still hold the response of the interrupted call.
        _end()
        raise


def prepare(
    master: str | None = None,
    *,
    java_home: Path | None = None,
    then: Callable[[SparkSession], object] | None = None,
) -> None:
    """
    Start the next local session with its JVM in a thread, without waiting for it.

    Nothing happens if the master is not local, or a session exists or is being prepared. then: called with the session; its
    exceptions are ignored. Raises as ``session``, which also reports a JVM that fails to start.
    """
    global _process, _preparation  # noqa: PLW0603 - see there
    require_master(master)
    master = master or LOCAL
    is_there = _preparation is not None or SparkContext._active_spark_context is not None  # noqa: SLF001 - see _stop_active
    if is_there or not is_local(master):
        return
    _require_java(java_home)
    if _process is None or _process.has_ended():
        _end()
        _set_environment(master, {})
        _process = _launched(master, {})
    _preparation = threading.Thread(target=_prepared, args=(master, then), name="spark-ahead", daemon=True)
    _preparation.start()


def pause() -> None:
    """Suspend the JVM and its descendants until ``go_on``, so that they use no CPU time."""
    if _process is not None:
        _process.pause()


def go_on() -> None:
    """Resume the JVM and its descendants."""
    if _process is not None:
        _process.go_on()


_process: SparkProcess | None = None
"""The only JVM of this process: pyspark's own state is global too."""

_preparation: threading.Thread | None = None
"""The thread that makes the session of a JVM started by ``prepare``."""

_stopping: threading.Thread | None = None
"""The thread that stops the last session."""

_has_served = False
"""True after the JVM completed a session and thus loaded the classes for the archive."""


def _prepared(master: str, then: Callable[[SparkSession], object] | None) -> None:
    with contextlib.suppress(Exception):  # ``session`` meets the same error later and reports it
        import_module("pandas")  # mapInArrow does so, when all wait for it
        spark = _started(master, {})
        if then is not None:
            then(spark)


def _await_preparation(master: str, conf: Mapping[str, str]) -> None:
    """Wait for the session in preparation, and stop it if its master or settings are not those wanted."""
    global _preparation  # noqa: PLW0603 - see there
    if _preparation is not None:
        go_on()
        _preparation.join()
        _preparation = None
        context = SparkContext._active_spark_context  # noqa: SLF001 - see _stop_active
        if context is not None and (conf or context.master != master):
            _stop_active()


def _set_environment(master: str, conf: Mapping[str, str]) -> None:
    # Workers must use this interpreter: it has the packages.
    os.environ["PYSPARK_PYTHON"] = conf.get("spark.pyspark.python", sys.executable)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if is_local(master):
        # Without it, Spark warns if the host name resolves to loopback.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def _stop_meanwhile(spark: SparkSession) -> None:
    """Stop a session; a local one in a thread, because that takes a second, and its JVM may be killed at any time."""
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
    # Irrelevant: no pandas data frame is ever made here.
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
    # Printed when the JVM is killed while its session is being stopped.
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
        # SparkContext replaces our handler for Ctrl-C by its own, which calls the JVM first.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)


def _launched(master: str, conf: Mapping[str, str]) -> SparkProcess:
    folder = take_folder()
    chosen = list({**settings(master, folder), **conf}.items())
    return SparkProcess(chosen, folder, class_archive(folder) if is_local(master) else None)


def _with_our_code(spark: SparkSession, master: str, folder: Path) -> SparkSession:
    """Ship this package and the reference to remote executors, which then need only their dependencies."""
    if not is_local(master):
        spark.sparkContext.addPyFile(str(_code_archive(folder)))
    return spark


def _code_archive(folder: Path) -> Path:
    """It has Python sources only, because tasks read no other file of ours."""
    path = folder / "rocketdiff-code.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for package, parent in FOLDER_OF.items():
            root = resource(f"{parent}/{package}")
            for source in sorted(root.rglob("*.py")):
                archive.write(source, f"{package}/{source.relative_to(root).as_posix()}")
    return path


def _silence(context: SparkContext) -> None:
    """Suppress the tracebacks of pyspark's accumulator server: when the JVM is gone, an exception reaches us anyway."""
    # Set on the instance, because pyspark makes the server itself.
    setattr(context._accumulatorServer, "handle_error", lambda *_: None)  # noqa: B010, SLF001


def _silence_py4j() -> None:
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_is_not_of_py4j)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    """Filter for the root logger, with which py4j logs interrupted calls."""
    return "py4j" not in Path(record.pathname).parts


def _gateway(port: int, secret: str) -> Any:
    variables = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
    os.environ.update(variables)
    try:
        return launch_gateway()  # type: ignore[no-untyped-call]  # pyspark's own
    finally:
        for name in variables:
            del os.environ[name]


def _how_it_ended() -> str | None:
    """Return how the JVM ended, in words; None if it lives or was never started. Waits for ``_BROKEN_OFF_S``."""
    if _process is None or not _process.has_ended(_BROKEN_OFF_S):
        return None
    return _process.how_it_ended()


def _stop_active() -> None:
    context = SparkContext._active_spark_context  # noqa: SLF001 - the only way to get a context without making one
    if context is not None:
        context.stop()


@atexit.register
def _finish() -> None:
    with contextlib.suppress(KeyboardInterrupt):
        if _process is not None and _has_served:
            _process.write_archive()
    _end()


def _end() -> None:
    """End the JVM with its descendants and reset the global state, so that the next session starts a new JVM."""
    global _process, _has_served  # noqa: PLW0603 - see there
    if _process is None:
        return
    _has_served = False
    # Pyspark's own stop would call a JVM that may be gone, and log the failure.
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
