"""A trace: what happens to some lines in some cycles, as a table, a chart, a timeline and text."""
