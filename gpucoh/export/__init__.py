"""Tables of protocols as models for checkers of other projects."""
