"""Observers: what looks at a simulation between its steps."""
