"""Presentation of results: tables, figures, explanations, progress bars."""
