"""What drives the rules for real: threads, clocks, connections."""
