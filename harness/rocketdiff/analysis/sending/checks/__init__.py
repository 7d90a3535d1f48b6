"""The checks of sends; each file asks one question."""
