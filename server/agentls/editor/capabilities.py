"""What the editor said it can do, resolved once into plain facts."""

from __future__ import annotations

from typing import Any

from lsprotocol import types as lsp
from msgspec import Struct


class EditorAbilities(Struct, frozen=True, kw_only=True):
    """Read from `initialize`; an editor that says nothing gets the plain treatment."""

    name: str = ""
    plugin: bool = False
    """It has our front end: it declared `experimental.agentls`."""
    progress: bool = False
    message_request: bool = False
    show_document: bool = False


def abilities(params: lsp.InitializeParams) -> EditorAbilities:
    window = params.capabilities.window
    experimental: Any = params.capabilities.experimental
    return EditorAbilities(
        name=params.client_info.name if params.client_info else "",
        plugin=isinstance(experimental, dict) and isinstance(experimental.get("agentls"), dict),
        progress=bool(window and window.work_done_progress),
        message_request=bool(window and window.show_message),
        show_document=bool(window and window.show_document and window.show_document.support),
    )
