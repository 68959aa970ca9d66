"""The HTTPS edge and the composition root: who may ask, and what stands behind each port."""
