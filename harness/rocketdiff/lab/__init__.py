"""Uses of the simulation: scenarios in virtual time, fuzzing, behaviour over releases."""
