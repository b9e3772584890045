"""Repeat the thesis's study P1: incomes of adults.

python examples/thesis/p1.py --data FOLDER
"""

from rerun import main

if __name__ == "__main__":
    main("p1")
