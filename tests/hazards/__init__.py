"""Programs that try to break jaxflow as a machine."""
