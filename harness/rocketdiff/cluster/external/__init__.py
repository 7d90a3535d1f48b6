"""Somebody's own cluster: found, never started; disturbed with the owner's commands only, and left as it was."""
