"""Judging in columns: sends that are certainly calm are judged as arrays; only the others become objects."""
