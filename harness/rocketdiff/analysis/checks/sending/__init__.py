"""Questions about how messages are sent: queues, attempts, ends, times, connections."""
