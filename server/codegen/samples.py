"""The values that examples in the documentation are made of: one small story.

Ada has a project with a function that greets wrongly, and asks an agent to mend it.
"""

from __future__ import annotations

from typing import Any

_OLD = 'def greet(name):\n    return "Hello " + nam\n'
_NEW = 'def greet(name):\n    return "Hello " + name\n'
_PROMPT = "Why does greet.py fail?"
_OPTIONS = [
    {"id": "yes", "name": "Allow", "kind": "allow_once"},
    {"id": "always", "name": "Always allow", "kind": "allow_always"},
    {"id": "no", "name": "Reject", "kind": "reject_once"},
]
_OUTPUT = "1 passed in 0.01s\n"

SAMPLES: dict[str, Any] = {
    # Fields that mean the same wherever they are required
    "agent": "claude",
    "askId": "w7c2m9hd4kxe",
    "at": 1767258000.25,
    "callId": "toolu_01A9",
    "created": 1767257990.5,
    "cwd": "/home/ada/greeter",
    "entryId": "e2",
    "id": "e2",
    "lastSign": 1767258004.75,
    "mode": "plan",
    "optionId": "yes",
    "options": _OPTIONS,
    "path": "/home/ada/greeter/greet.py",
    "role": "agent",
    "seq": 3,
    "sessionId": "k3v9x2mq7abc",
    "since": 1767258003.5,
    "terminalId": "term_1",
    "text": "The name is misspelt in line 2.",
    "title": "Edit greet.py",
    "turn": 1,
    # Types, in the order of protocol.py
    "Body.text": _OUTPUT,
    "Body.size": len(_OUTPUT),
    "SessionMode.id": "plan",
    "SessionMode.name": "Plan",
    "SessionMode.description": "Looks and proposes, but changes nothing.",
    "OptionChoice.value": "fast",
    "OptionChoice.name": "Fast",
    "SessionOption.id": "model",
    "SessionOption.name": "Model",
    "SessionOption.kind": "select",
    "SessionOption.value": "fast",
    "SessionOption.category": "model",
    "SessionOption.choices": [{"value": "fast", "name": "Fast"}, {"value": "deep", "name": "Deep"}],
    "SessionCommand.name": "review",
    "SessionCommand.description": "Reviews the changes of the working tree.",
    "SessionCommand.hint": "what to look at",
    "TokenUsage.contextUsed": 18250,
    "TokenUsage.contextSize": 200000,
    "TokenUsage.cost": 0.04,
    "TokenUsage.currency": "USD",
    "SessionHead.id": "k3v9x2mq7abc",
    "SessionHead.title": _PROMPT,
    "SessionHead.state": "idle",
    "SessionHead.turn": 1,
    "SessionHead.mode": "plan",
    "AskOption.id": "yes",
    "AskOption.name": "Allow",
    "AskOption.kind": "allow_once",
    "AskDecision.by": "you",
    "FileLocation.line": 2,
    "DiffContent.old": {"text": _OLD, "size": len(_OLD)},
    "DiffContent.new": {"text": _NEW, "size": len(_NEW)},
    "ContentBlock.kind": "link",
    "ContentBlock.uri": "file:///home/ada/greeter/greet.py",
    "ContentBlock.name": "greet.py",
    "CommandOutput.ended": True,
    "CommandOutput.exitCode": 0,
    "PlanItem.text": "Correct the name",
    "PlanItem.status": "in_progress",
    "PlanItem.priority": "medium",
    "ToolCallEntry.tool": "edit",
    "ToolCallEntry.status": "completed",
    "ToolCallEntry.content": [
        {
            "type": "diff",
            "path": "/home/ada/greeter/greet.py",
            "old": {"text": _OLD, "size": len(_OLD)},
            "new": {"text": _NEW, "size": len(_NEW)},
        }
    ],
    "ToolCallEntry.locations": [{"path": "/home/ada/greeter/greet.py", "line": 2}],
    "TurnEndEntry.reason": "end_turn",
    "TurnEndEntry.seconds": 12.5,
    "NoticeEntry.level": "warning",
    "NoticeEntry.text": "The agent sent an update that it should not have.",
    "OtherEntry.update": "weather_report",
    "OtherEntry.raw": {"sessionUpdate": "weather_report", "sky": "clear"},
    "TextAppended.text": " I will correct it.",
    "AgentItem.name": "claude",
    "AgentItem.title": "Claude Code",
    "AgentItem.running": True,
    "AgentItem.version": "1.4.0",
    "AgentsResult.default": "claude",
    "SessionLoadParams.agentSessionId": "8d5f3c1e-0b7a",
    "SnapshotParams.last": 200,
    "SnapshotResult.total": 1,
    "PromptParams.sessionId": "k3v9x2mq7abc",
    "PromptParams.text": _PROMPT,
    "PromptParams.blocks": [
        {"kind": "link", "uri": "file:///home/ada/greeter/greet.py", "name": "greet.py"}
    ],
    "SessionNewParams.agent": "claude",
    "SessionNewParams.cwd": "/home/ada/greeter",
    "CancelResult.returned": ["And add a test."],
    "SetOptionParams.option": "model",
    "SetOptionParams.value": "deep",
    "BodyParams.part": 0,
    "BodyResult.text": _NEW,
    "ExportResult.markdown": "# Why does greet.py fail?\n",
    "AskItem.title": "Edit greet.py",
    "RecordingParams.agent": "claude",
    "RecordingParams.path": "/home/ada/claude.jsonl",
    "RecordingResult.path": "/home/ada/claude.jsonl",
    "DidChangeParams.changes": [
        {"type": "text", "entryId": "e2", "text": " I will correct it."},
        {
            "type": "entry",
            "entry": {
                "kind": "ask",
                "id": "e4",
                "at": 1767258003.5,
                "turn": 1,
                "askId": "w7c2m9hd4kxe",
                "callId": "toolu_01A9",
                "title": "Edit greet.py",
                "options": _OPTIONS,
            },
        },
    ],
}
