"""What formats show, computed before rendering."""
