"""The nouns every room shares: subject, send, attempt, outcome, fault, case, verdict, errors (standard library only)."""
