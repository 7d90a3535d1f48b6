"""Scripts: one format for whatever runs in virtual time, read strictly, written in one canonical form."""

from harness.simulation.script.depths import depth_of, least_depth
from harness.simulation.script.model import NamedScript, Script, Step
from harness.simulation.script.reading import to_dict
from harness.simulation.script.text import canonical, parse_script
from harness.simulation.script.vocabulary import Depth

__all__ = [
    "Depth",
    "NamedScript",
    "Script",
    "Step",
    "canonical",
    "depth_of",
    "least_depth",
    "parse_script",
    "to_dict",
]
