"""Faults: injected, healed, and both proven by requests. ``schedule`` runs many at their times."""
