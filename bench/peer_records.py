"""The problems of ours_records.py on the original: run.py records --peer-python PYTHON_WITH_IT."""
import sys

from ours_records import main

main(sys.argv[1:])
