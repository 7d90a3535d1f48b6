"""The Java driver: one source for all releases, compiled once against the API of the oldest."""

from pathlib import Path

from rocketdiff.core.resources import resource
from rocketdiff.releases.artifacts import client_class_path
from rocketdiff.releases.compiled import compiled
from rocketdiff.releases.jvm import find_java
from rocketdiff.releases.progress import ProgressListener

# Code compiled against the oldest API uses only methods that every later release still has.
API_RELEASE = "4.0.0-incubating"
SOURCES = "harness/rocketdiff/drivers/java"


def driver_class_path(listener: ProgressListener | None = None) -> Path:
    """The folder of the driver's classes, to put before a client release's jars on the class path."""
    return compiled("driver", resource(SOURCES), client_class_path(API_RELEASE, listener), find_java(listener))
