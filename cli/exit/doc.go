// Package exit gives errors their exit codes. The codes are part of the command line's contract with scripts.
package exit
