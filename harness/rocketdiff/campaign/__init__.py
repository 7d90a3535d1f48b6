"""Many runs that are made one after another and go on where they were stopped: of a campaign file, and of a matrix."""
