// Package output writes what a command prints: lines, aligned tables, colours, JSON and events. Text from outside is
// made safe for a terminal before it is written (L12).
package output
