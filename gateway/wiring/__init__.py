"""Which adapter stands behind which port; everything that lives longer than a request is made and closed here.

`services` makes a gateway, `router_alone` a router, `routing` what both have, `authoring` what writes without serving.
Each is imported by itself, since a router needs neither a database nor a tokenizer in its memory.
"""
