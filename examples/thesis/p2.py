"""Repeat the thesis's study P2: handwritten digits.

python examples/thesis/p2.py --data FOLDER
"""

from rerun import main

if __name__ == "__main__":
    main("p2")
