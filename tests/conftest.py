"""For all tests: property tests try the same examples each time, so that a run says something about
the change it is for. `HYPOTHESIS_PROFILE=searching` looks for new ones."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("searching", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
