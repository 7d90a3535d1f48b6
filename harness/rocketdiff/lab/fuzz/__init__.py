"""Lock step: the Java classes and the reference at the same scripts, and what is made of a difference between them."""
