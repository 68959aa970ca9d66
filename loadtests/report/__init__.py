"""What a run amounts to, as a page to look at: charts are drawn here, and nothing is fetched."""
