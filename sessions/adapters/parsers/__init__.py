"""Takes the text out of documents that strangers wrote: one module per format, all run by `child` in a process of its
own."""
