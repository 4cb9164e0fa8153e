// Package offline handles requests to a city that has no controller. It reads the city's files and uses its sessions
// directly.
package offline
