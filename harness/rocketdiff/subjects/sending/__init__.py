"""What a producer claims, may report, and how long and how much."""
