"""The time step in its order, and what a run counts, triggers and reports."""
