"""Pre-scaling: how many replicas a class needs, and when.

A *budget* says where a replica's memory goes, the *capacity* how many sessions fit into what is left of it.
"""
