// Command gcity-hold holds one session: see package holder. It is a program of its own because one runs for each agent,
// and whatever else it linked would cost memory and time once per agent. gcity carries it inside and starts it itself.
package main

import (
	"os"

	"gcity/session/pty/internal/holder"
)

func main() {
	sleepDeeply()
	os.Exit(holder.Main(os.Args[2:]))
}
