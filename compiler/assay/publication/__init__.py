"""Published reports as data: their printed cells read, told apart by the editions of the specs, and set again."""
