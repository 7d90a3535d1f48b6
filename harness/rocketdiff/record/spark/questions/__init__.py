"""Questions to the record, one a file: small named tables of DataFrame code, literal rows in their tests."""
