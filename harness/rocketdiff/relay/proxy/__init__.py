"""The relay as a program: listening, passing bytes on, switches."""
