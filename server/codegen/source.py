"""The documentation that stands in a module's source: docstrings, and the text after a field."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from pathlib import Path
from types import ModuleType


class Source:
    """Names and documentation of one module, in source order."""

    def __init__(self, module: ModuleType) -> None:
        if module.__file__ is None:
            raise ValueError(f"{module.__name__} has no source")
        self.file = Path(module.__file__).name
        self.names: list[str] = []
        """Of the classes and values at the top level."""
        self._docs: dict[str, str] = {}
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        self._read(tree.body, prefix="")

    def doc(self, name: str) -> str:
        """Of a class, a top-level value, or `Class.field`; empty when there is none."""
        return self._docs.get(name, "")

    def field_doc(self, owner: type, name: str) -> str:
        """Of a field of the class or of the base that declares it."""
        docs = (self.doc(f"{cls.__name__}.{name}") for cls in owner.__mro__)
        return next((doc for doc in docs if doc), "")

    def _read(self, body: list[ast.stmt], prefix: str) -> None:
        for statement in body:
            name = _name(statement)
            if name and not prefix:
                self.names.append(name)
            if isinstance(statement, ast.ClassDef):
                self._docs[name] = ast.get_docstring(statement) or ""
                self._read(statement.body, prefix=f"{name}.")
        for statement, following in pairwise(body):
            match following:
                case ast.Expr(value=ast.Constant(value=str() as text)) if isinstance(
                    statement, ast.Assign | ast.AnnAssign
                ):
                    self._docs[prefix + _name(statement)] = inspect.cleandoc(text)


def _name(statement: ast.stmt) -> str:
    match statement:
        case ast.ClassDef(name=name):
            return name
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ""
