"""A push consumer between the rules, as coroutines."""
