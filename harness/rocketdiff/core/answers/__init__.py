"""What is found about a case: evidence, verdicts, and the tables of its pictures."""
