"""From evidence to the answer of each check, and to one verdict of the run with its exit code."""
