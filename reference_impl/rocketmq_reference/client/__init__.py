"""The client, once: coroutines that wait for signals and have no clock, socket or thread; `live` and the simulation run them."""
