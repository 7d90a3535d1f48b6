"""Every small change to the rules and the judging code, and whether a test notices it."""
