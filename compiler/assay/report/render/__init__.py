"""Forms of a report: PDF, web page, Markdown."""
