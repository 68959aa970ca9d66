-- Names the contents of this database; another value means that it was emptied.
return redis.call('GET', EPOCH) or ''
