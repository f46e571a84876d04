"""The cases of the public conformance suite of MolRec, each in every form that a record has."""
