"""Questions about what the brokers hold."""
