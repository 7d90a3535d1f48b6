"""Random scripts of a producer, one module a depth."""
