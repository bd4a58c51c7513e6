"""Who finds the forces: sweeps, their orders and their criteria."""
