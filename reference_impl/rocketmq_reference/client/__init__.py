"""The client as coroutines without clock, socket or thread; `live` and the simulation both run them."""
