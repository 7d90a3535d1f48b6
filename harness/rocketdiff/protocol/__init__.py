"""The line protocol between the runner and a subject: the lines of both directions, written and read in one place."""
