"""Parts of the DataLoader: collating samples, fetching batches, and worker threads."""
