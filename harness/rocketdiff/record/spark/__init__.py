"""The work on the record that needs Spark; the record's other modules import it lazily."""
