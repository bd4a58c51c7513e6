"""What comes and goes between steps: walls at their times, grains through inflows and outlets."""
