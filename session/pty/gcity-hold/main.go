// Command gcity-hold holds one session: see package holder. It is a separate program because one process runs per
// agent, and every package linked into it costs memory and startup time for each agent. gcity embeds and starts it.
package main

import (
	"os"

	"gcity/session/pty/internal/holder"
)

func main() {
	sleepDeeply()
	os.Exit(holder.Main(os.Args[2:]))
}
