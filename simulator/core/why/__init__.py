"""Where the difference between two runs' throughput comes from."""
