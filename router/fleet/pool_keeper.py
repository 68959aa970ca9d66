"""One pool's rounds."""
