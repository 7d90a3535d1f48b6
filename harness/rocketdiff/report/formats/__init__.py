"""One file a format, each rendered from the report document."""
