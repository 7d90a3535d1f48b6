"""Units of time: times of records are in nanoseconds, limits and reports in milliseconds, scenarios in seconds."""

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000
