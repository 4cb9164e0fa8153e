// Package service installs gcity as a service of systemd or launchd, and starts, inspects and removes that service.
package service
