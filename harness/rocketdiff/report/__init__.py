"""
Reports: one listener or renderer per file; every stored format is rendered from the JSON document alone.

A change of the document's types needs a new minor version in ``document`` (major if an old reader would misread it),
then ``python -m maintenance.schemas``.
"""
