"""One file per format, each rendered from the report document."""
