"""Turn Dhall sources into a checked package of frozen dataclasses."""
