"""Checks of a package: names, types, units, cycles."""
