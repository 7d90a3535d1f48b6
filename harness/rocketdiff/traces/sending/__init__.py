"""The tables of a case about producers, and their rows from journals."""
