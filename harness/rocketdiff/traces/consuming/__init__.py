"""The tables of a case about consumers, and their rows from journals."""
