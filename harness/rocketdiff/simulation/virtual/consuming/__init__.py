"""The consumer in a script: strategies of allocation, and rounds and pulls of one member of a group."""
