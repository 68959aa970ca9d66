"""Small models behind HTTP that help the search of knowledge; each may be away, and then says nothing."""
