"""Steps of the pass over one case, in order. Each maps a stream of sends to a stream of sends."""
