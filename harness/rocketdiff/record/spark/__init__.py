"""The work on the record that Spark does; nothing else of this room imports it."""
