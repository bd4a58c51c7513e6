"""Contact problems as matrices (Delassus form), and the solvers that work on them."""
