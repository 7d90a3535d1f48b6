"""Dialects of the Java producer: one value per behaviour range, each defined by its parent and the differences."""

from rocketmq_reference.dialects.catalogue import DIALECTS, RELEASES, dialect_of, releases_of
from rocketmq_reference.dialects.flatten import difference, flatten

__all__ = ["DIALECTS", "RELEASES", "dialect_of", "difference", "flatten", "releases_of"]
