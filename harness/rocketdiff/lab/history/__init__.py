"""Behaviour over the release lines: changes and groups of equal releases."""
