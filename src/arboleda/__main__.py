"""Run the command ``arboleda`` by ``python -m arboleda``."""

from arboleda.cli import main

if __name__ == "__main__":
    main()
