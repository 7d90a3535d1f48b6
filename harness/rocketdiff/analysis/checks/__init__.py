"""One question about a case per file: an observer of its sends, and the evaluation of the resulting facts."""
