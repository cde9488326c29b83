"""The door, op records, programs and executors. Knows nothing of autograd's engine or of nn."""
