"""Artifacts of the lock: resolved, downloaded, put together to class paths."""
