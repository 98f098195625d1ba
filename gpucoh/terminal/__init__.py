"""What commands print: tables, explanations, profiles, progress bars."""
