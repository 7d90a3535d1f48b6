"""Files that people write: YAML with its lines, and files written whole or not at all."""
