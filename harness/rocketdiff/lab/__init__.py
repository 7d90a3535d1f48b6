"""Questions to the simulation: scenarios in virtual time, fuzzing, and behaviour over releases."""
