// Package fleet holds what the control room knows of all cities: how each one is, its numbers, and what in it needs
// attention.
//
// The package is pure. Package tui fills the list and draws it.
package fleet
