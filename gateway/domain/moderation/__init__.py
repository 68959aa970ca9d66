"""What may be said: texts are read as a person would read them, and banned phrases never leave.

`PhraseBook` is the compiled lists of a tenant and a scenario; `ReleaseFilter` lets a stream pass that is free of them,
and `moderate` a whole text, with the same verdict. The rest says how: `Normaliser` reads, `Matcher` finds.
"""
