"""Files of any kind: where results may be written, and what an HDF5 file may hold."""
