"""A run on disk: the journal, the sealed tables, and readers that refuse damaged or altered data."""
