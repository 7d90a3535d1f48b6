"""Child processes: run under a supervisor, exchange lines with deadlines, and end with the runner."""
