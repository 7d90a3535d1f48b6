"""Damaged and hostile documents: each is read or refused in one sentence."""
