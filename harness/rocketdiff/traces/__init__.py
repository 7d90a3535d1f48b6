"""A run on disk: the journal written while it happens, the sealed tables, and readers that refuse what they cannot trust."""
