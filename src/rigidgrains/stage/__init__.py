"""What happens to a scene in the course of time: prescribed motion, walls that come and go, grains in and out."""
