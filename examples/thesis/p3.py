"""P3, prices of used cars, as the thesis studies them.

python examples/thesis/p3.py --data FOLDER_OF_THE_TABLES
"""

from rerun import main

if __name__ == "__main__":
    main("p3")
