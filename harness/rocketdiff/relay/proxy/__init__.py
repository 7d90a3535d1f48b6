"""The relay program: listening, forwarding, switches."""
