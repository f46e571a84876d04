"""The adapters of foreign formats, each found through an entry point as a third party's would be."""
