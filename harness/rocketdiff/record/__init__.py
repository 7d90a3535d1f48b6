"""The record of all runs: what happened, how it was judged and what was answered, kept as Delta tables."""
