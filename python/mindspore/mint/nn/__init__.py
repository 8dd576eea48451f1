"""PyTorch-shaped layers and functions."""
