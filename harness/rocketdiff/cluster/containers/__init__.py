"""The backend whose servers are containers, through testcontainers: any release, on any engine that speaks Docker's API."""
