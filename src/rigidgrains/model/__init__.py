"""The physical model: bodies, walls and their shapes, the periodic cell, materials, functions of time."""
