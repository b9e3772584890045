"""P1, incomes of adults, as the thesis studies them.

python examples/thesis/p1.py --data FOLDER_OF_THE_TABLES
"""

from rerun import main

if __name__ == "__main__":
    main("p1")
