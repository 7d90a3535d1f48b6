"""The statistical tests and estimates behind verdicts, as functions of numbers."""
