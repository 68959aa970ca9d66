"""The router alone: an OpenAI-compatible proxy that keeps sessions where their cache is.

Plain ASGI without a framework, since its price per request and per chunk is what a caller feels. It knows the router
and its operators' orders by their own words, and no adapter.
"""
