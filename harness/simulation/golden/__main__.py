"""``python -m harness.simulation.golden``."""

import sys

from harness.simulation.golden.generate import main

sys.exit(main())
