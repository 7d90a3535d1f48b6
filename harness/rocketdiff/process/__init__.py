"""Child processes: started under a supervisor, talked to with deadlines, gone when the runner is."""
