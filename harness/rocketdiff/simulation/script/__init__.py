"""The script format of the simulation: strict reading and one canonical form."""

from rocketdiff.simulation.script.depths import depth_of, least_depth
from rocketdiff.simulation.script.model import NamedScript, Script, Step
from rocketdiff.simulation.script.reading import canonical, parse_script, to_dict
from rocketdiff.simulation.script.vocabulary import Depth

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
