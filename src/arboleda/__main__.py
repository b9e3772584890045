"""``python -m arboleda`` is the command ``arboleda``."""

from arboleda.cli import main

if __name__ == "__main__":
    main()
