"""The LSP edge: the only place that knows pygls and lsprotocol."""
