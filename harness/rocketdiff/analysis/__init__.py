"""Turns the traces of runs into evidence, with or without Spark."""
