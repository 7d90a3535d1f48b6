"""Charts and words of reports about groups of consumers."""
