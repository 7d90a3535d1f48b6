"""Runs a case about consumers and prints what happened. It judges nothing."""
