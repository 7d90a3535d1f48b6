"""The named steps of the pass over one case, in their order; each takes and gives a stream of sends."""
