"""From stored runs to a verdict, its report and its reasons; which ledgers and measured rates apply."""
