"""Judges a case about producers: its steps, checks, columns and pictures."""
