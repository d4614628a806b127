"""The tests of the examples share workshop.py, which lies beside this."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
