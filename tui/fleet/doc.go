// Package fleet contains the control room's data about all cities: the health of each city, its numbers, and what needs
// attention.
//
// The package performs no I/O. Package tui/feed fills the list, and package tui/view draws it.
package fleet
