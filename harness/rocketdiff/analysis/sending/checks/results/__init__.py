"""Checks of what an application gets from its sends."""
