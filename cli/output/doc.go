// Package output writes the output of commands: lines, aligned tables, colors, JSON and events. Text from outside
// is made safe for a terminal before it is written (L12).
package output
