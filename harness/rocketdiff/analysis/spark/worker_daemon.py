"""
``python -m``: the process that forks Spark's Python workers, with everything imported that judging a case needs.

Without it each worker imports that by itself: 0.8 s of CPU time each.
"""

import importlib

from pyspark.daemon import manager

if __name__ == "__main__":
    for name in ("pyspark.worker", "scipy.stats", "rocketdiff.analysis.spark.cases"):
        importlib.import_module(name)
    manager()
