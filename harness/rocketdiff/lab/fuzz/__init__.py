"""Differential fuzzing of the Java classes against the reference with random scripts."""
