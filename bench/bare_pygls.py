"""The reference for starting: a language server on pygls that can do one thing, and no more."""

from __future__ import annotations

from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("bare", "1")


@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(params: types.HoverParams) -> types.Hover:
    return types.Hover(contents=f"line {params.position.line}")


if __name__ == "__main__":
    server.start_io()
