"""One case on a cluster: its subjects, faults, guards and witnesses."""
