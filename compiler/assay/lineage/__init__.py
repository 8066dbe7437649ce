"""What values come from: columns, rows, records, cells."""
