"""What a tensor is asked about itself."""
