"""The kinds of clients, one file each: where its releases come from and how it is started."""
