// Package arch contains only tests. They check that the module's sources follow the rules in ARCHITECTURE.md.
package arch
