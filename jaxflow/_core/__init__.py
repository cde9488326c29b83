"""The machine's data: values, storages, tensors, dtypes, devices. Imports nothing of ours above it."""
