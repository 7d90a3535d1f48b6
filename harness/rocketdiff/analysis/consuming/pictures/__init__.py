"""What reports draw and count of groups: facts of one case, and the tables that are made of them."""
