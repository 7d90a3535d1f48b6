"""Which queue a producer chooses, and what it remembers about its brokers."""
