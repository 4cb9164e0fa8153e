// Package sessions opens the session providers of a city.
package sessions
