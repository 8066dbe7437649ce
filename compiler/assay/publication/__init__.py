"""Published reports: read their printed cells, match them to editions of the specs, and rebuild the documents."""
