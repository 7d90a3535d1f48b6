"""Evidence to answers, answers to one verdict of a run with its exit code."""
