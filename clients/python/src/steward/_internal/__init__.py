"""Modules that the clients share. Not part of the public interface."""
