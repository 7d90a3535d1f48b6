"""The statistical tests and estimates that answers rest on, as functions of numbers."""
