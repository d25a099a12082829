"""agentls: a language server that hosts AI coding agents."""

__version__ = "0.1.0"
