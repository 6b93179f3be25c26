"""The child side of a dry run: loaded into a bare interpreter beside an engine's source. Imports only the stdlib.

In the child this package is called ``gonogo_inside``; nothing else of gonogo is there.
"""
