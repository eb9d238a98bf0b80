"""Runs a command and writes the most memory it had resident, in MiB, into a file.

usage: peak.py FILE COMMAND...
"""

import resource
import subprocess
import sys
from pathlib import Path

code = subprocess.call(sys.argv[2:])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
Path(sys.argv[1]).write_text(f"{peak:.0f}")
sys.exit(code)
