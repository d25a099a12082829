"""Agents that work together: one directs others."""
