"""Real agents, when somebody has them at hand: the one thing here that is no fake.

AGENTLS_REAL_AGENTS names a launcher: a program that takes the name of an agent and runs it on
stdio against a scripted model, which understands prompts such as `#fake text 30`. What the agent
remembers is gone with its process, unless AGENTS_HOME names a folder for that. Without a launcher
these tests are not collected: they need a gigabyte of agents that the project does not install.
"""

from __future__ import annotations

import os
import shlex

LAUNCHER = shlex.split(os.environ.get("AGENTLS_REAL_AGENTS", ""))
AGENTS = ["claude", "codex", "gemini", "opencode"] if LAUNCHER else []
