"""`python server/codegen`: works from any folder and without an installation."""

import sys
from pathlib import Path

if not __package__:
    # Run as a folder, Python looks for modules inside it; they are those of a package beside it.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from codegen.command import main

sys.exit(main())
