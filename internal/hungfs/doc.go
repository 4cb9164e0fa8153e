// Package hungfs mounts file systems that do not respond, for tests.
package hungfs
