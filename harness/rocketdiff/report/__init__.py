"""Reports: one listener or renderer a file; every stored format is rendered from the JSON document alone."""
