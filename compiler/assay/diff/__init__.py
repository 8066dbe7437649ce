"""Compare specs and builds."""
