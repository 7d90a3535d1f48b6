"""What a subject reports: one frozen dataclass a line, those of every session and those of each role."""
