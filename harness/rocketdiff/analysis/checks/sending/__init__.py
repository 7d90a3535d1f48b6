"""Checks of how messages are sent: queues, attempts, ends, times, connections."""
