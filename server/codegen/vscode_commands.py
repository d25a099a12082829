"""What a person can do in VS Code: the commands, where they stand in menus, and their keys."""

from __future__ import annotations

from dataclasses import dataclass

_CHAT = "view == agentls.chat"
_SESSIONS = "view == agentls.sessions"
_ASKS = "view == agentls.asks"
_CHANGES = "view == agentls.changes"
_TERMINALS = "view == agentls.terminals"


@dataclass(frozen=True)
class Menu:
    """A place in a menu: which one, when, and in which group of it."""

    place: str
    when: str
    group: str


@dataclass(frozen=True)
class Command:
    """Something a person can do."""

    name: str
    title: str = ""
    request: str = ""
    """The request that is called the same."""
    icon: str = ""
    key: str = ""
    """With `ctrl`; on a Mac it is `cmd`."""
    key_when: str = ""
    palette: bool = True
    menus: tuple[Menu, ...] = ()


def _title(view: str, group: str) -> Menu:
    return Menu("view/title", view, group)


def _item(view: str, item: str, group: str) -> Menu:
    """On the entries of a view whose kind begins with a word, or matches a pattern."""
    return Menu("view/item/context", f"{view} && viewItem =~ /{item}/", group)


_ANY_SESSION = "^session"
_LIVE_SESSION = "^session.(here|running)"
_ASK = "^ask$"
_PROPOSAL = "resourcePath =~ /agentls.proposals/"
_PENDING = "^change.*pending"
_UNDONE = "^change.*undone"

_OF_SESSIONS = (
    Command(
        "newSession",
        request="agentls/session/new",
        icon="add",
        menus=(_title(_CHAT, "navigation@1"), _title(_SESSIONS, "navigation@1")),
    ),
    Command("newSessionWith", "New session with another agent…", menus=(_title(_CHAT, "1_new"),)),
    Command(
        "pickSession", "Switch session…", icon="history", menus=(_title(_CHAT, "navigation@2"),)
    ),
    Command("showSession", "Show session in chat", icon="comment-discussion", palette=False),
    Command(
        "openInEditor",
        "Open session in editor tab",
        icon="go-to-file",
        menus=(_title(_CHAT, "navigation@3"), _item(_SESSIONS, _ANY_SESSION, "inline@1")),
    ),
    Command(
        "searchSessions",
        "Search all sessions…",
        icon="search",
        menus=(_title(_SESSIONS, "navigation@2"), _title(_CHAT, "2_session")),
    ),
    Command("moreSessions", "More past sessions", palette=False),
    Command("showArchived", "Show or hide archived sessions", menus=(_title(_SESSIONS, "2_show"),)),
    Command(
        "resumeSession",
        request="agentls/session/resume",
        icon="debug-continue",
        palette=False,
        menus=(_item(_SESSIONS, "^session.past", "inline@2"),),
    ),
    Command(
        "stop",
        request="agentls/session/cancel",
        icon="stop-circle",
        key="ctrl+escape",
        key_when="focusedView == agentls.chat || activeWebviewPanelId == agentls.chat",
        menus=(_item(_SESSIONS, "^session.running", "inline@2"),),
    ),
    Command("setMode", "Set mode…"),
    Command("setOption", "Set model or other option…"),
    Command("setPolicy", request="agentls/session/setPolicy", icon="shield"),
    Command(
        "renameSession",
        request="agentls/session/rename",
        menus=(_title(_CHAT, "2_session"), _item(_SESSIONS, _ANY_SESSION, "2_session")),
    ),
    Command(
        "forkSession",
        request="agentls/session/fork",
        menus=(_title(_CHAT, "2_session"), _item(_SESSIONS, _ANY_SESSION, "2_session")),
    ),
    Command(
        "exportSession",
        request="agentls/session/export",
        menus=(_title(_CHAT, "2_session"), _item(_SESSIONS, _ANY_SESSION, "2_session")),
    ),
    Command(
        "restartAgent",
        request="agentls/session/restart",
        menus=(_title(_CHAT, "3_end"), _item(_SESSIONS, _LIVE_SESSION, "3_end")),
    ),
    Command(
        "closeSession",
        request="agentls/session/close",
        icon="close",
        menus=(_title(_CHAT, "3_end"), _item(_SESSIONS, _LIVE_SESSION, "inline@3")),
    ),
    Command(
        "archiveSession",
        "Archive a session, or bring it back",
        icon="archive",
        menus=(_item(_SESSIONS, "^session.past", "inline@3"),),
    ),
    Command(
        "deleteSession",
        request="agentls/session/delete",
        palette=False,
        menus=(_item(_SESSIONS, "^session.past", "3_end"),),
    ),
    Command("login", request="agentls/agent/login"),
)

_OF_ASKS = (
    Command("answerAsk", request="agentls/ask/decide", icon="question", key="ctrl+alt+enter"),
    Command(
        "allow",
        "Allow once",
        icon="check",
        palette=False,
        menus=(_item(_ASKS, _ASK, "inline@1"), Menu("editor/title", _PROPOSAL, "navigation@1")),
    ),
    Command(
        "reject",
        "Reject",
        icon="close",
        palette=False,
        menus=(_item(_ASKS, _ASK, "inline@2"), Menu("editor/title", _PROPOSAL, "navigation@2")),
    ),
    Command(
        "editProposal",
        request="agentls/ask/proposal",
        palette=False,
        menus=(_item(_ASKS, _ASK, "1_answer"),),
    ),
    Command(
        "rejectAndSayWhy",
        "Reject and say why…",
        palette=False,
        menus=(_item(_ASKS, _ASK, "1_answer"),),
    ),
    Command("alwaysAllow", "Always allow…", palette=False, menus=(_item(_ASKS, _ASK, "1_answer"),)),
    Command(
        "showAsk",
        request="agentls/ask/show",
        palette=False,
        menus=(_item(_ASKS, _ASK, "2_show"),),
    ),
    Command(
        "allowAll",
        "Allow all open asks…",
        icon="check-all",
        menus=(_title(_ASKS, "navigation@1"),),
    ),
    Command(
        "rejectAll",
        "Reject all open asks",
        icon="close-all",
        menus=(_title(_ASKS, "navigation@2"),),
    ),
)

_OF_CHANGES = (
    Command(
        "reviewChanges",
        "Review changes of agents",
        icon="diff-multiple",
        key="ctrl+alt+r",
        menus=(
            _title(_CHANGES, "navigation@1"),
            _item(_CHANGES, "^change.(session|turn)", "inline@1"),
        ),
    ),
    Command("showChange", request="agentls/change/show", palette=False),
    Command(
        "openChanged",
        "Open file",
        icon="go-to-file",
        palette=False,
        menus=(_item(_CHANGES, "^change.file", "inline@1"),),
    ),
    Command(
        "keepChange",
        "Keep",
        icon="check",
        palette=False,
        menus=(_item(_CHANGES, _PENDING, "inline@2"),),
    ),
    Command(
        "undoChange",
        "Undo",
        icon="discard",
        palette=False,
        menus=(_item(_CHANGES, _PENDING, "inline@3"),),
    ),
    Command(
        "redoChange",
        "Do it again",
        icon="redo",
        palette=False,
        menus=(_item(_CHANGES, _UNDONE, "inline@3"),),
    ),
    Command(
        "keepAllChanges",
        "Keep all changes",
        icon="check-all",
        menus=(_title(_CHANGES, "navigation@2"),),
    ),
    Command(
        "undoAllChanges",
        "Undo all changes…",
        icon="discard",
        menus=(_title(_CHANGES, "navigation@3"),),
    ),
    Command("nextChange", "Go to next change of an agent", key="ctrl+alt+n"),
    Command("previousChange", "Go to previous change of an agent", key="ctrl+alt+p"),
    Command(
        "goBack",
        request="agentls/change/restore",
        menus=(_item(_CHANGES, "^change.turn", "2_back"),),
    ),
)

COMMANDS = (
    Command("openChat", "Open chat", icon="comment-discussion", key="ctrl+alt+a"),
    *_OF_SESSIONS,
    *_OF_ASKS,
    *_OF_CHANGES,
    Command(
        "attachSelection",
        "Add selection to chat",
        key="ctrl+alt+c",
        key_when="editorHasSelection",
        menus=(Menu("editor/context", "editorHasSelection", "z_agentls"),),
    ),
    Command(
        "attachFile",
        "Add file to chat",
        menus=(Menu("explorer/context", "!explorerResourceIsFolder", "z_agentls"),),
    ),
    Command("showTerminal", "Show terminal", icon="terminal", palette=False),
    Command(
        "killTerminal",
        request="agentls/terminal/kill",
        icon="stop-circle",
        palette=False,
        menus=(_item(_TERMINALS, "^terminal.running$", "inline@1"),),
    ),
    Command("showRules", request="agentls/rule/list"),
    Command("restartServer", "Restart server"),
    Command("showLog", "Show log"),
    Command("showTraffic", "Show traffic between editor and server"),
    Command("saveRecording", request="agentls/recording/save"),
    Command("installServer", "Install server…"),
    Command("trust", "Manage workspace trust", palette=False),
    Command("menu", "Show menu", palette=False),
)
