"""Makes many runs one after another, and resumes them after an interruption: for campaign files and for the matrix."""
