// Package consent asks the user whether the programs of a city may run.
package consent
