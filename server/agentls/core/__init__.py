"""Values, events, rules and services. No LSP, no ACP, no IO: those come in through `ports`."""
