"""Dialects of the Java producer: one value a behaviour range, each its parent and the differences."""

from reference_impl.dialects.catalogue import DIALECTS, RELEASES, dialect_of, releases_of
from reference_impl.dialects.flatten import difference, flatten

__all__ = ["DIALECTS", "RELEASES", "dialect_of", "difference", "flatten", "releases_of"]
