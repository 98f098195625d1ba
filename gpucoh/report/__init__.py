"""What people read of results: tables, figures, explanations, progress bars."""
