"""The other side of the door: plug-ins by which other libraries read and write records."""
