"""Checks of the case itself: the line protocol, and whether the case can be judged."""
