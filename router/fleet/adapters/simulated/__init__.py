"""A host whose replicas are figures, in a time that is told."""
