"""What a definition looks like in each language that we name functions and classes in.

Invariant: a table and nothing else; nothing is imported for a language before a file needs it.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Language(Struct, frozen=True, eq=False):
    """One grammar, and the nodes in it that have a name worth showing."""

    module: str
    definitions: dict[str, str]
    """The word before the name, by the type of the node."""
    function: str = "language"
    functions: frozenset[str] = frozenset()
    """Types of nodes that are functions without a name..."""
    only_functions: frozenset[str] = frozenset()
    """...and of those that give them one."""


_PYTHON: Final = Language(
    "tree_sitter_python", {"class_definition": "class", "function_definition": "def"}
)
_SCRIPT: Final = {
    "class_declaration": "class",
    "class": "class",
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "method_definition": "method",
    "variable_declarator": "function",
    "field_definition": "method",
}
_TYPED: Final = _SCRIPT | {
    "abstract_class_declaration": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "type_alias_declaration": "type",
    "internal_module": "namespace",
    "public_field_definition": "method",
}
_NAMELESS: Final = frozenset({"arrow_function", "function_expression", "generator_function"})
_NAMING: Final = frozenset({"variable_declarator", "field_definition", "public_field_definition"})
_JAVASCRIPT: Final = Language(
    "tree_sitter_javascript", _SCRIPT, functions=_NAMELESS, only_functions=_NAMING
)
_TYPESCRIPT: Final = Language(
    "tree_sitter_typescript", _TYPED, "language_typescript", _NAMELESS, _NAMING
)
_TSX: Final = Language("tree_sitter_typescript", _TYPED, "language_tsx", _NAMELESS, _NAMING)
_GO: Final = Language(
    "tree_sitter_go",
    {"function_declaration": "func", "method_declaration": "func", "type_spec": "type"},
)
_RUST: Final = Language(
    "tree_sitter_rust",
    {
        "function_item": "fn",
        "impl_item": "impl",
        "trait_item": "trait",
        "struct_item": "struct",
        "enum_item": "enum",
        "mod_item": "mod",
        "macro_definition": "macro",
    },
)
_JAVA: Final = Language(
    "tree_sitter_java",
    {
        "class_declaration": "class",
        "interface_declaration": "interface",
        "enum_declaration": "enum",
        "record_declaration": "record",
        "method_declaration": "method",
        "constructor_declaration": "constructor",
    },
)
_C_NODES: Final = {
    "function_definition": "function",
    "struct_specifier": "struct",
    "union_specifier": "union",
    "enum_specifier": "enum",
}
_C: Final = Language("tree_sitter_c", _C_NODES)
_CPP: Final = Language(
    "tree_sitter_cpp",
    _C_NODES | {"class_specifier": "class", "namespace_definition": "namespace"},
)
_RUBY: Final = Language(
    "tree_sitter_ruby",
    {"class": "class", "module": "module", "method": "def", "singleton_method": "def"},
)
_PHP: Final = Language(
    "tree_sitter_php",
    {
        "class_declaration": "class",
        "interface_declaration": "interface",
        "trait_declaration": "trait",
        "enum_declaration": "enum",
        "function_definition": "function",
        "method_declaration": "function",
    },
    "language_php",
)
_C_SHARP: Final = Language(
    "tree_sitter_c_sharp",
    {
        "namespace_declaration": "namespace",
        "class_declaration": "class",
        "interface_declaration": "interface",
        "struct_declaration": "struct",
        "record_declaration": "record",
        "enum_declaration": "enum",
        "method_declaration": "method",
        "constructor_declaration": "constructor",
        "property_declaration": "property",
    },
)
_BASH: Final = Language("tree_sitter_bash", {"function_definition": "function"})
_LUA: Final = Language("tree_sitter_lua", {"function_declaration": "function"})

BY_SUFFIX: Final[dict[str, Language]] = {
    suffix: language
    for suffixes, language in (
        (".py .pyi .pyw", _PYTHON),
        (".js .jsx .mjs .cjs", _JAVASCRIPT),
        (".ts .mts .cts", _TYPESCRIPT),
        (".tsx", _TSX),
        (".go", _GO),
        (".rs", _RUST),
        (".java", _JAVA),
        (".c", _C),
        (".h .cc .cpp .cxx .hh .hpp .hxx .ipp", _CPP),
        (".rb .rake .gemspec", _RUBY),
        (".php", _PHP),
        (".cs", _C_SHARP),
        (".sh .bash", _BASH),
        (".lua", _LUA),
    )
    for suffix in suffixes.split()
}
