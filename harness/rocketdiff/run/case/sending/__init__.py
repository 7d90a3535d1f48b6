"""A case about producers: its topics, plan, wire, read-back and guards."""
