"""The same class on the same real replicas, through this product and through other routers."""
