"""A record of many replicas of a run with planted regressions, which its questions must find."""
