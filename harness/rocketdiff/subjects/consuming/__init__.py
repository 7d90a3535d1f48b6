"""What a member of a group claims, may report, and how long and how much."""
