"""Parse and print unit expressions such as `mebibyte / second`, and convert them with exact factors.

A unit is a product of powers of names.  A name is a base unit, an alias, or a multiple of another unit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.lang.expression_types import NONE

#: a name, the power of what stands before it, or one character
_TOKEN = re.compile(r"\s*(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)|\*\*\s?(?P<power>-?[0-9]{1,2})|(?P<sign>[*/()1]))")
#: nobody means a unit with a greater power
_LARGEST_POWER = 99

#: name -> power, without powers of 0
Powers = Mapping[str, int]


class InvalidUnitError(ValueError):
    """`part` of a unit expression is not a name, or stands where no operand or operator can stand."""

    def __init__(self, part: str) -> None:
        super().__init__(part)
        self.part = part


@dataclass(frozen=True, slots=True)
class Unit:
    """`factor` times a product of powers of base units."""

    factor: Fraction
    base: Powers


def multiply(left: Powers, right: Powers, power: int = 1) -> Powers:
    """Return the product of a unit and of a power of another one."""
    powers = dict(left)
    for name, exponent in right.items():
        powers[name] = powers.get(name, 0) + exponent * power
    return {name: exponent for name, exponent in powers.items() if exponent}


def write_powers(powers: Powers) -> str:
    """Return the expression of a unit: `byte * second / slot ** 2`, names sorted; `dimensionless` of no name."""
    over = " * ".join(_write_power(name, powers[name]) for name in sorted(powers) if powers[name] > 0)
    under = "".join(f" / {_write_power(name, -powers[name])}" for name in sorted(powers) if powers[name] < 0)
    return f"{over or '1'}{under}" if powers else NONE


def _write_power(name: str, power: int) -> str:
    return name if power == 1 else f"{name} ** {power}"


def parse_powers(text: str, aliases: Mapping[str, str]) -> Powers:
    """Return the powers of the names of an expression, aliases replaced.  Raises InvalidUnitError."""
    parser = _Parser(text, _split_tokens(text), aliases)
    powers = parser.parse_product()
    if parser.position < len(parser.tokens):
        raise InvalidUnitError(text)
    return powers


def _split_tokens(text: str) -> list[re.Match[str]]:
    tokens, end = [], 0
    while text[end:].strip():
        match = _TOKEN.match(text, end)
        if match is None:
            raise InvalidUnitError(text)
        tokens.append(match)
        end = match.end()
    return tokens


@dataclass
class _Parser:
    text: str
    tokens: Sequence[re.Match[str]]
    aliases: Mapping[str, str]
    position: int = 0

    def parse_product(self) -> Powers:
        """Parse operands joined by `*` and `/`, which are equal and are read from the left."""
        powers = self.parse_operand()
        while (sign := self._peek("sign")) in ("*", "/"):
            self.position += 1
            powers = multiply(powers, self.parse_operand(), 1 if sign == "*" else -1)
        return powers

    def parse_operand(self) -> Powers:
        """Parse a name, `1` or a group in parentheses, with its power."""
        name, sign = self._peek("name"), self._peek("sign")
        self.position += 1
        if name:
            if name not in self.aliases:
                raise InvalidUnitError(name)
            powers: Powers = {} if name == NONE else {self.aliases[name]: 1}
        elif sign == "1":
            powers = {}
        elif sign == "(":
            powers = self.parse_product()
            if self._peek("sign") != ")":
                raise InvalidUnitError(self.text)
            self.position += 1
        else:
            raise InvalidUnitError(self.text)
        if power := self._peek("power"):
            self.position += 1
            powers = multiply({}, powers, int(power))
        if any(abs(exponent) > _LARGEST_POWER for exponent in powers.values()):
            raise InvalidUnitError(self.text)
        return powers

    def _peek(self, group: str) -> str:
        return self.tokens[self.position][group] or "" if self.position < len(self.tokens) else ""
