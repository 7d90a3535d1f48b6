"""An existing cluster: inspected, never started; only the owner's commands are run on it, and it is left as it was found."""
