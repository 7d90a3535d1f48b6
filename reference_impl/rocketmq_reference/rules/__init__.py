"""Pure decisions of the Java producer: state and event in, decision out; no clock, socket or randomness inside."""
