"""Text in and out: numbers scanned and printed at memory speed, lines, compressed streams."""
