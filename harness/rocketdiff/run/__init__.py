"""The live run: what is asked, which cases, the cluster, both clients side by side, guards; then the judge."""
