"""Pictures and plots."""
