"""From evidence to answers, and to one verdict of the run with its exit code."""
