"""Renders the protocol and the settings into TypeScript, Lua and documentation.

Not part of the product: run it with `python server/codegen` after a change of
agentls/editor/protocol.py or agentls/core/settings.py. The same source gives the same bytes.
"""
