// Package e2e tests gcity on a real cluster: the gcity program, the helper, and agents in pods.
package e2e
