"""Behaviour over the release lines: where it changes, which releases behave alike, and which release a client behaves like."""
