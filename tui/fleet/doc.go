// Package fleet has the control room's data about all cities: the health of each, its numbers, and what needs
// attention.
//
// The package is pure. Package tui fills the list and draws it.
package fleet
