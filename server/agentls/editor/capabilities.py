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
    runs_terminals: bool = False
    """Its front end runs commands in terminals of its own."""
    saves_documents: bool = False
    """Its front end saves a document when it is asked to."""
    knows_code: bool = False
    """Its front end can be asked what the editor's language servers know."""
    progress: bool = False
    message_request: bool = False
    show_document: bool = False
    action_literals: bool = False
    """It understands code actions that are more than a command."""
    lens_refresh: bool = False
    applies_edits: bool = False
    """It can be told to edit its documents."""


def abilities(params: lsp.InitializeParams) -> EditorAbilities:
    window = params.capabilities.window
    text_document = params.capabilities.text_document
    actions = text_document.code_action if text_document else None
    workspace = params.capabilities.workspace
    lenses = workspace.code_lens if workspace else None
    experimental: Any = params.capabilities.experimental
    ours = experimental.get("agentls") if isinstance(experimental, dict) else None
    return EditorAbilities(
        name=params.client_info.name if params.client_info else "",
        plugin=isinstance(ours, dict),
        runs_terminals=isinstance(ours, dict) and ours.get("runsTerminals") is True,
        knows_code=isinstance(ours, dict) and ours.get("knowsCode") is True,
        saves_documents=isinstance(ours, dict) and ours.get("savesDocuments") is True,
        progress=bool(window and window.work_done_progress),
        message_request=bool(window and window.show_message),
        show_document=bool(window and window.show_document and window.show_document.support),
        action_literals=bool(actions and actions.code_action_literal_support),
        lens_refresh=bool(lenses and lenses.refresh_support),
        applies_edits=bool(workspace and workspace.apply_edit),
    )
