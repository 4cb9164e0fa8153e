// Command gcity-hold holds one session: see package holder. It is a separate program because one process runs for
// each agent, and every linked package would cost memory and time once per agent. gcity embeds it and starts it.
package main

import (
	"os"

	"gcity/session/pty/internal/holder"
)

func main() {
	sleepDeeply()
	os.Exit(holder.Main(os.Args[2:]))
}
