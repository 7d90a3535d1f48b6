"""The steps of a script: those of every role, and a module for each role."""
