// Package arch has only a test. The test reads the module's sources and fails where they violate the rules in
// ARCHITECTURE.md.
package arch
