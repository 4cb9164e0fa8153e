// Package depot selects and opens the store that a command uses, finds beads in it, and reports what the command
// changes.
package depot
