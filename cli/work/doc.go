// Package work has the commands about work: beads, mail, formulas, convoys, and how they reach an agent.
package work
