"""The MCP edge: what agents may call back."""
