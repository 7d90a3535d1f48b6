"""``python -m rocketdiff.simulation.golden``."""

import sys

from rocketdiff.simulation.golden.generate import main

sys.exit(main())
