"""The edge for commands: pseudo-terminals that this process runs."""
