"""Behaviour over the release lines: where it changes, who behaves alike, and which release a client behaves like."""
