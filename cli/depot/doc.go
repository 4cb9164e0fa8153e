// Package depot selects and opens the store of a command, finds beads in it, and reports what the command changes.
package depot
