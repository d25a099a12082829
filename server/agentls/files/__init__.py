"""Files on disk: read, written, remembered and brought back."""
