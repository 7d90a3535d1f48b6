"""Decisions of a consumer of clients 4.2.0 to 5.5.0, as pure functions."""
