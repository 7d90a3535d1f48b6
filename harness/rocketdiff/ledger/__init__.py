"""
Declared divergences: entries, file format, matching, and their outcomes in a run.

A ledger turns DIVERGES into DECLARED, and CONFORMS without its declared divergence into STALE. It excuses divergences,
never a lack of evidence: INVALID, errors and missing answers stay. ``judging.ledgers`` reads the files; this room gets
data, and a function that maps a location to ``file line 12``.
"""
