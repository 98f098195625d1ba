"""The simulated GPU: arrays, launches, protocols, and the only importer of the binding."""
