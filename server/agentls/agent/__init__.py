"""The ACP edge: the only place that knows the Agent Client Protocol and starts agent processes."""
