"""Charts and words of reports about sends."""
