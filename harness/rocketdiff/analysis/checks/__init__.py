"""One question asked of a case a file: what it looks at in a send, and what the facts of all sends say in the end."""
