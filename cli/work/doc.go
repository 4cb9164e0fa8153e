// Package work implements the commands for work: beads, mail, formulas, convoys, and the commands with which agents get
// their work.
package work
