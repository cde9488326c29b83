"""Views: chains of view operations, what they show, and how their autograd history follows their base."""
