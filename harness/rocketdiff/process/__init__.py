"""
Child processes: run under a supervisor, exchange lines with deadlines, and end with the runner.

Every process started by a run ends with the run, even after ``kill -9`` at any moment. All rooms that start programs
use this one; the docstring of ``supervisor`` lists the four safety nets.
"""
