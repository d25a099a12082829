"""What agentls costs, beside the least that the same work can cost on the same machine."""
