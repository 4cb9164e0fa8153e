// Package consent asks the user whether a city's programs are allowed to run.
package consent
