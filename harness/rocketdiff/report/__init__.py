"""Reports: one listener or renderer per file; every stored format is rendered from the JSON document alone."""
