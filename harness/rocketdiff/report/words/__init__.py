"""The sentences and signs that all formats share."""
