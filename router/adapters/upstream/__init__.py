"""A small HTTP/1.1 client for streams: a *target* is where a request goes, a *connection* carries one request at a
time, and its *reply* is the answer as it arrives, under the patience it was asked with.
"""
