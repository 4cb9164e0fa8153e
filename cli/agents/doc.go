// Package agents implements the commands for agents, pools, rigs, watchdogs and automations.
package agents
