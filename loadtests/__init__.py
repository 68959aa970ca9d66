"""Proves that a class will hold: a replica without a GPU, trainees without people, and verdicts on both.

Nothing of the product imports it, and it knows the product by its public HTTP API alone.
"""
