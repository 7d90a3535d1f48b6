"""The oracle: the set of hidden states that explain a trace, kept send by send; pure, built on the reference's rules."""
