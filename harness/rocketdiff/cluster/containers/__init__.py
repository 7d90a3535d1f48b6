"""The backend with servers in containers, through testcontainers: any release, on any engine with Docker's API."""
