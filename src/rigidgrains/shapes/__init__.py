"""Shapes of grains as data: rounded convex parts, their mass, and contact points of two of them."""
