"""Values exchanged between an application and its client: messages, results, settings, events."""
