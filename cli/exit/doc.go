// Package exit gives errors their exit codes, which scripts can rely on.
package exit
