"""Loopback relay between one client and a cluster: forwards every frame and records it."""
