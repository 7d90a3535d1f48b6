"""Clients of the user's own: program, subject file, build, skeletons."""
