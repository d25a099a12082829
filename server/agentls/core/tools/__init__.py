"""Tools that agents may call back."""
