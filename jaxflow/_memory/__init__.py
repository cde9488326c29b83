"""The bytes of storages: shared with NumPy, with files and with other processes; resized."""
