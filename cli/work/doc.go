// Package work implements the commands for work: beads, mail, formulas, convoys, and the commands that agents use to
// get their work.
package work
