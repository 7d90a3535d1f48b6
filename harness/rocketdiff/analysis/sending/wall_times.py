"""Wall times of many sends."""

import numpy as np

from rocketdiff.analysis.sending.send_arrays import Floats, Ints
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.units import NS_PER_MS


def wall_range_ms(clock: ClockAnchor, from_ns: Ints, to_ns: Ints) -> tuple[Floats, Floats]:
    """Return the lowest and the highest wall time between two instants of the monotonic clock (``ClockAnchor.range_ms``)."""
    lowest = np.asarray(clock.wall_ms + (from_ns - clock.monotonic_ns) / NS_PER_MS, dtype=np.float64)
    highest = np.asarray(clock.wall_ms + (to_ns - clock.monotonic_ns) / NS_PER_MS, dtype=np.float64)
    if clock.offsets:
        sampled_ns = np.array([at_ns for at_ns, _ in clock.offsets])
        first, after = np.searchsorted(sampled_ns, from_ns, "right"), np.searchsorted(sampled_ns, to_ns, "left")
        for place in np.unique(np.stack([first, after], axis=1), axis=0).tolist():
            here = np.flatnonzero((first == place[0]) & (after == place[1]))
            least, most = clock.offset_range_ns(int(from_ns[here[0]]), int(to_ns[here[0]]))
            lowest[here] += least / NS_PER_MS
            highest[here] += most / NS_PER_MS
    return lowest, highest
