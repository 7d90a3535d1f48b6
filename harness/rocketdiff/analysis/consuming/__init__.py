"""The analysis of cases about consumers."""
