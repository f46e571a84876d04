"""The shared tables: units and names, as data. Inverses are computed, never written."""
