"""The pass over runs on Spark; ``run_analysis`` imports it only if Spark is used."""
