"""Greet people, and find them a seat."""


def greet(name: str) -> str:
    """Return a greeting for one person."""
    return f"Hello, {name}!"


def seat(name: str, table: list[str] = []) -> list[str]:
    """Seat a guest at the table, or at a new one, and return the table."""
    table.append(name)
    return table
