"""A case about consumers: its topics, groups, feeder, polls, read-back and guards."""
