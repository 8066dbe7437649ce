"""Regular expressions that the engine (RE2) and Python read alike.

Classes such as `\\s` and `\\w` differ between the two, so that expressions for both use the classes of this module.
"""

from __future__ import annotations

#: white space within a line of any kind of source, and the class of its characters; no other character is a blank
WHITE_SPACE = " \t\n\v\f\r"
WHITE_SPACE_ESCAPES = r" \t\n\v\f\r"
BLANK = f"[{WHITE_SPACE_ESCAPES}]"
_PLAIN = "_,;:=#@'\"/<>%&!~`- "  # characters without a meaning in an expression; in these, both escape nothing


def escape_literal(text: str) -> str:
    """Return the expression of a literal text.

    RE2 allows a backslash only before ASCII punctuation: before a symbol such as `→` it is an error.
    """
    return "".join(_escape_character(character) for character in text)


def _escape_character(character: str) -> str:
    if not character.isascii() or character.isalnum() or character in _PLAIN:
        return character
    return f"\\{character}" if character.isprintable() else f"\\x{ord(character):02x}"
