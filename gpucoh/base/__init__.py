"""What every part uses: errors, units, files, late imports, HTML tables, Ctrl-C while modules are imported."""
