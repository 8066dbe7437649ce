"""Builds on several machines: workers fill the shared cache, then the coordinator makes the ordinary build."""
