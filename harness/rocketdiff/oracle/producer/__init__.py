"""The rules of producers, replayed against a trace."""
