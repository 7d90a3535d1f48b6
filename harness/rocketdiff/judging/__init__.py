"""From stored runs to verdict, report and explanations, with the ledgers and measured rates that apply."""
