"""One live client, assembled from its parts, and its requests as frames."""
