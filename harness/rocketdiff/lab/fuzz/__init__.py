"""Differential fuzzing: the Java classes and the reference run the same random scripts, compared step by step."""
