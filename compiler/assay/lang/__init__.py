"""The language: Dhall sources to a checked package of frozen dataclasses."""
