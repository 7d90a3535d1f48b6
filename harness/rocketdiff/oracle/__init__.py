"""The oracle: set-valued replay of a trace against the reference's rules. Pure."""
