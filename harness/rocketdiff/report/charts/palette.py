"""
The colours of every picture, by what they stand for; report.css gives each a counterpart for the dark scheme.

Chosen to differ in lightness as well as in hue, so that they survive a grey print and the common colour deficiencies;
nothing is told by colour alone.
"""

INK = "#25303b"
MUTED = "#5b6875"
GRID = "#e2e6ea"

BASELINE = "#2d6cb4"
CANDIDATE = "#d2691e"

FAILED = "#b3261e"
UNKNOWN = "#8e44ad"

PAUSE = "#f3d9a4"
PAUSED_LANE = "#e8b95a"

BROKERS = ("#1d7874", "#98b8c8", "#c9a227", "#7a5c8e")
"""By the order of broker names; four masters are the most a shipped topology has."""

ARM_COLOURS = {"baseline": BASELINE, "candidate": CANDIDATE}
