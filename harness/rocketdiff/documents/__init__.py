"""Hand-written files: YAML with line numbers, strict validation, and atomic writing of files."""
