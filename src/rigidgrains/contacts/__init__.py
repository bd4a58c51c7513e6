"""Contact rows: geometry, masses, friction, and the forces carried over (warm start)."""
