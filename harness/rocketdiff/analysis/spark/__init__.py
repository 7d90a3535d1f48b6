"""The pass over runs on Spark; nothing else imports it."""
