"""Real agents are asked for, not found: see test_real_agents.py."""

from __future__ import annotations

import os

collect_ignore = [] if os.environ.get("AGENTLS_REAL_AGENTS") else ["test_real_agents.py"]
