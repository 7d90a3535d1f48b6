"""Pure decisions of the Java producer: state and event in, decision out; no clock, no socket, no randomness inside."""
