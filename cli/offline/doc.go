// Package offline answers for a city without a controller. It reads the files of the city and asks its sessions.
package offline
