"""Programs built or compiled for this machine: drivers, hosts and builds of clients."""
