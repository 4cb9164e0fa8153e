// Package hungfs mounts file systems that do not answer, for tests.
package hungfs
