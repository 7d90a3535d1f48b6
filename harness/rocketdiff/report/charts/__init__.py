"""Pictures of a report: one question a file, each a static SVG drawn offline from finished tables."""
