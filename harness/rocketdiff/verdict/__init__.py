"""
From evidence to answers, and to one verdict of the run with its exit code. Pure.

Between answers and verdict the ledger is applied. The tests behind the answers are in ``statistics``, with reasons.
"""
