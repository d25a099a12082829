"""`python -m agentls.demo`: the demo agent on standard input and output."""

import sys

from agentls.demo.agent import main

sys.exit(main())
