"""Views, copies, joining and splitting."""
