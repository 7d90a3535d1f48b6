"""The nouns shared by all rooms: subject, send, attempt, outcome, fault, case, verdict, errors (standard library only)."""
