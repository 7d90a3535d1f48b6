"""The producer as an application sees it."""
