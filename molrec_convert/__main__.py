"""``python -m molrec_convert`` is ``molrec-convert``."""

from molrec_convert.cli import main

if __name__ == "__main__":
    main()
