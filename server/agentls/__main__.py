"""`python -m agentls`: the same as the command `agentls`."""

import sys

from agentls.cli import main

sys.exit(main())
