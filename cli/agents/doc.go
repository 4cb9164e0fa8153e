// Package agents holds the commands about agents, pools, rigs, watchdogs and automations.
package agents
