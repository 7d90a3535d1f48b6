"""Figures in words: name, unit, interval and sample size."""

from collections.abc import Sequence

from rocketdiff.core.answers.verdict import Measure
from rocketdiff.report.words.signs import number

MEASURE_WORDS = {
    "legal-share": "queues the rules allowed, on average",
    "ghosts": "stored though the call failed",
    "stored-late": "stored after the call had failed",
    "late_ns": "started late",
    "start_spread_ns": "apart at the start",
    "longest_stall_ns": "longest stall of this machine",
    "away-at-least": "stayed away at least, to the end of the case",
    "away-until-return": "stayed away until it came back",
    "longest-without-success-after-kill-proxy": "longest time without a success once a proxy could be reached again after a kill",
    "longest-without-success-after-pause-proxy": "longest time without a success once a paused proxy was back",
    "time-for-all-sends": "from the first send's time to the last one's end",
    "99th-percentile-in-calm": "took the slowest of a hundred sends in calm",
    "median-delay-in-calm": "from a message's time until it was through, in calm",
    "not-store-ok": "answered with a status other than SEND_OK",
    "foreign-messages": "messages of unknown origin in the topic",
    "restricted-mean-failover-time": "mean time to failover, as far as both were watched",
    "failover-time-per-timeout": "time inside sends for every timeout waited",
    "failover-time-per-timeout without failover": "episodes without a failover",
    "failover-time-per-timeout ratio (candidate ÷ baseline)": "the same, candidate ÷ baseline",
    "blocked-send-duration": "duration of sends held up by the broker",
    "blocked-send-duration ratio (candidate ÷ baseline)": "the same, candidate ÷ baseline",
}
"""Readable names of figures; programs read the stored names."""


def measure_word(name: str) -> str:
    """Return a figure's name in words; exception classes are unchanged."""
    return MEASURE_WORDS.get(name) or (
        name if name[:1].isupper() else name.replace("-", " ").removesuffix("_ns").replace("_", " ")
    )


def measure_text(measure: Measure) -> str:
    """Return a figure with unit, interval and sample size; a count as part of its sample."""
    if measure.unit == "count":
        return f"{number(measure.value)} of {measure.n:,}" if measure.n >= measure.value else number(measure.value)
    text = _with_unit(measure.value, measure.unit)
    if measure.low is not None and measure.high is not None:
        sure = "" if measure.confidence is None else f", {measure.confidence:.0%} interval"
        text += f" ({_with_unit(measure.low, measure.unit)} to {_with_unit(measure.high, measure.unit)}{sure})"
    return f"{text}, n = {measure.n:,}"


def measure_lines(measures: Sequence[Measure]) -> tuple[tuple[str, str], ...]:
    """Return name and text of every figure; figures of both arms under one name share a line."""
    lines: dict[str, list[str]] = {}
    for measure in measures:
        name, _, arm = (
            measure.name.replace("_baseline", " baseline").replace("_candidate", " candidate").rpartition(" ")
        )
        if arm in ("baseline", "candidate"):
            lines.setdefault(name, []).append(f"{arm} {measure_text(measure)}")
        else:
            lines.setdefault(measure.name, []).append(measure_text(measure))
    return tuple((measure_word(name), "; ".join(texts)) for name, texts in lines.items())


def _with_unit(value: float, unit: str) -> str:
    if unit == "ratio":
        return f"×{value:.2f}"
    if unit == "share":
        return f"{value:.1%}"
    if unit == "ns":
        return f"{number(value / 1e6)} ms"
    return f"{number(value)} {unit}".rstrip()
