"""Judging in columns: what is certainly calm is judged as arrays, and only the rest becomes objects."""
