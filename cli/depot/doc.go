// Package depot opens the store that a command means, finds beads in it, and reports what the command changes.
package depot
