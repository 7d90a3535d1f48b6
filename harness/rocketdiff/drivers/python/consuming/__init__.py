"""The part of the Python drivers for consumers: members of a group."""
