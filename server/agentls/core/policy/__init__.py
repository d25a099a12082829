"""What an agent may do without asking: command lines, paths and rules, judged without any IO."""
