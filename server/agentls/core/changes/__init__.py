"""What agents did to files: differences, edits, merges, hunks, and what is decided of them."""
