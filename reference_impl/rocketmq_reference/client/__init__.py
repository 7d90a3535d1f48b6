"""The client as coroutines without clock, socket or thread; `host` and the simulation both run them."""
