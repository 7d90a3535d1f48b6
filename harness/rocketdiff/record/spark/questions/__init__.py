"""Questions to the record, one per file: small functions on DataFrames, tested with literal rows."""
