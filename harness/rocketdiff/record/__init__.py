"""The record of all runs as Delta tables: traces, judgements and answers."""
