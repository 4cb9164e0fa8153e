// Package sessions opens a city's session providers.
package sessions
