// Package consent asks the user whether the programs that a city names may run.
package consent
