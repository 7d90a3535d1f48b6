"""The reference as a member of a consumer group."""
