"""``python -m gpucoh``: the command line."""

from gpucoh.cli import main

if __name__ == "__main__":
    main()
