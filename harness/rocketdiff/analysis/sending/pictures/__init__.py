"""The tables of the pictures of sends."""
