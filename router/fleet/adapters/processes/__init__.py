"""Replicas as processes of this machine, which outlive the controller that started them.

Each has a *shim*: a small process of its own session that runs the *engine* as its child. The *shelf* is the folder in
which every order has a folder of its own: the host writes there what was *ordered*, the shim what *runs*.
"""
