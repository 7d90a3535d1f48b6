"""One question about a group of consumers per file."""
