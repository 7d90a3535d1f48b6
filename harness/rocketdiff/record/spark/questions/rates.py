"""Rates: a share of runs with its interval, as columns."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - the usual name in Spark code

Z = 1.959963984540054
"""Quantile of the normal distribution for a two-sided 95 % interval."""


def rate(hits: Column, n: Column) -> Column:
    """Return the share; null if no run was asked."""
    return F.when(n > 0, hits / n)


def wilson(hits: Column, n: Column, side: int) -> Column:
    """
    Return a bound of Wilson's 95 % interval of a rate; side: -1 lower, +1 upper.

    Wilson's interval is a plain expression, without a quantile of a beta distribution, and stays inside [0, 1] with few runs.
    """
    share = hits / n
    centre = share + Z * Z / (2 * n)
    reach = Z * F.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    bound = (centre + side * reach) / (1 + Z * Z / n)
    return F.when(n > 0, F.greatest(F.lit(0.0), F.least(F.lit(1.0), bound)))
