"""The live run: the request, its cases, the cluster, both clients side by side, the guards, and then the judge."""
