"""
The folder that a local session starts Spark from: pyspark's own, less the jar that only machine learning needs.

On every start of a session MLlib registers SQL functions, for which Scala's reflection reads half of the class path: 2 to 3 s of
CPU time without a class archive. Spark has no setting against it; it finds MLlib because it is on the class path.
"""

import hashlib
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from pyspark.find_spark_home import _find_spark_home

from rocketdiff.releases.programs.java_programs import class_folder

CONFIGURED_BY = ("SPARK_HOME", "SPARK_CONF_DIR", "SPARK_SUBMIT_OPTS")
"""With one of these variables Spark is the user's, and is not changed."""

_NEVER_USED = "spark-mllib_*.jar"


def whole_home() -> Path:
    """Return the folder of pyspark, or the one that the user names."""
    return Path(_find_spark_home())


def local_home() -> Path:
    """Return a folder in the cache with links to pyspark's files, made if missing; pyspark's own if that fails."""
    whole = whole_home()
    if any(name in os.environ for name in CONFIGURED_BY):
        return whole
    with suppress(OSError):
        jars = [jar for jar in sorted((whole / "jars").glob("*.jar")) if not jar.match(_NEVER_USED)]
        digest = hashlib.sha256("\0".join(map(str, jars)).encode()).hexdigest()[:16]
        home = class_folder() / f"spark-home-{digest}"
        if not home.exists():
            _link(whole, jars, home)
        return home
    return whole


def _link(whole: Path, jars: list[Path], home: Path) -> None:
    home.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=home.parent))
    try:
        for entry in whole.iterdir():
            if entry.name != "jars":
                (draft / entry.name).symlink_to(entry)
        (draft / "jars").mkdir()
        for jar in jars:
            (draft / "jars" / jar.name).symlink_to(jar)
        with suppress(FileExistsError):  # another process was faster
            draft.rename(home)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
