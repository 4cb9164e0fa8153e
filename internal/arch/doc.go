// Package arch holds no code: its test reads the module's sources and fails where they leave the house that
// ARCHITECTURE.md describes.
package arch
