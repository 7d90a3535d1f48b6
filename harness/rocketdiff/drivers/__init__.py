"""Drivers, the programs under test, by language."""
