"""The far sides of the protocols, for tests: they speak the real thing."""
