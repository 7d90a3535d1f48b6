"""What an application calls and sees: the producer, its messages, results, settings and events."""
