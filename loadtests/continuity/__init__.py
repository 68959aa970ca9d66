"""Replicas are lost in the middle of streams, over and over, and every reply must be what it would have been."""
