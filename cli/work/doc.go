// Package work contains the commands about work: beads, mail, formulas, convoys, and the commands with which agents
// get their work.
package work
