"""Certifies a class: plays it with faults on a given fleet, and writes down what was shown and what it is worth."""
