"""
The colours of all pictures, by meaning; page.css has a dark counterpart of each.

They differ in lightness as well as hue, for grey prints and colour-blind readers.
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
"""In the order of broker names; shipped topologies have at most four masters."""

ARM_COLOURS = {"baseline": BASELINE, "candidate": CANDIDATE}
