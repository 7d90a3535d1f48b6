"""Sources of the programs under test, by language."""
