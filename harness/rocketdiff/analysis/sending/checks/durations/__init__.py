"""Checks of how long an application waits."""
