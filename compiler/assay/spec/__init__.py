"""Front end: Dhall text to frozen dataclasses; checks of names, types, units, cycles; diagnostics."""
