"""Checks of what the brokers hold."""
