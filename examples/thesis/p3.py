"""Repeat the thesis's study P3: prices of used cars.

python examples/thesis/p3.py --data FOLDER
"""

from rerun import main

if __name__ == "__main__":
    main("p3")
