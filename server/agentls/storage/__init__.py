"""The storage edge: files that outlive this process. It imports only the core."""
