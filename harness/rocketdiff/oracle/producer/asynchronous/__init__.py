"""Asynchronous sends against the rules."""
