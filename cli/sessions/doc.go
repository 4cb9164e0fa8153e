// Package sessions opens the providers that hold the sessions of a city.
package sessions
