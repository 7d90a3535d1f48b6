"""`rocketdiff subject check`: one client alone at a cluster."""
