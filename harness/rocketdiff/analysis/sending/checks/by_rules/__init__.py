"""Checks that hold a send against the rules."""
