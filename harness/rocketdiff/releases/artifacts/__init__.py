"""Artifacts of the lock: resolved, downloaded and assembled to class paths."""
