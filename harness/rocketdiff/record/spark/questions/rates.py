"""How often: a share of runs with its interval, as columns."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark programmer reads at once

Z = 1.959963984540054
"""Of the normal distribution, for 95 % on both sides."""


def rate(hits: Column, n: Column) -> Column:
    """Null where nobody was asked."""
    return F.when(n > 0, hits / n)


def wilson(hits: Column, n: Column, side: int) -> Column:
    """
    A bound of Wilson's 95 % interval of a rate; side: -1 lower, +1 upper.

    It needs no quantile of a beta distribution, so it is an expression, and stays inside [0, 1] with few runs.
    """
    share = hits / n
    centre = share + Z * Z / (2 * n)
    reach = Z * F.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    bound = (centre + side * reach) / (1 + Z * Z / n)
    return F.when(n > 0, F.greatest(F.lit(0.0), F.least(F.lit(1.0), bound)))
