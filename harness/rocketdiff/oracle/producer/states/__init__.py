"""Hidden states of a producer, and the transitions between them."""
