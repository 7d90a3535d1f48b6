"""
Hand-written files: YAML with line numbers, strict validation, and atomic writing of files.

A wrong file is refused in one sentence: what was expected, where, and what was seen. Tags, merge keys and cycles are
refused. Scripts of the simulation are JSON, refused by the same module.
"""
