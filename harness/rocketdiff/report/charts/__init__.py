"""Pictures of a report: one question per file, each a static SVG drawn offline from finished tables."""
