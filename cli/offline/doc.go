// Package offline answers for a city that no controller runs. It reads the files of the city and asks its sessions.
package offline
