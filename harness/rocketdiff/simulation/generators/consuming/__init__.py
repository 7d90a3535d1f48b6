"""Random scripts of consumers."""
