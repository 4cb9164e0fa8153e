// Package consent asks the user whether a city's programs may run.
package consent
