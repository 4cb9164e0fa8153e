package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gcity/city"
	"gcity/city/citytest"
)

// twoCities returns a directory of two cities. The commands that each city receives are written to a file.
func twoCities(dir string) *citytest.Directory {
	d := citytest.NewDirectory()
	for _, name := range []string{"alpha", "beta"} {
		f := citytest.NewFake(name, city.Agent{Name: "worker", Running: true}, city.Agent{Name: "z-" + name, Running: true})
		f.Print("worker", "this is the worker of "+name+"\r\n")
		f.OnDo(func(c city.Command) (city.Receipt, error) {
			log, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				return city.Receipt{}, err
			}
			defer log.Close()
			fmt.Fprintln(log, c.Verb(), c.Target())
			return city.Receipt{Message: name + " has done " + c.Verb() + " " + c.Target()}, nil
		})
		d.Add(name, "/"+name, f)
	}
	d.Add("quarry", "/quarry", citytest.NewFake("quarry"))
	d.SetCondition("quarry", city.CityRefused, "/quarry/city.toml does not exist")
	d.Add("swamp", "/swamp", citytest.NewFake("swamp"))
	d.Hang("swamp", true)
	return d
}

func (c *console) did(name string) string {
	c.t.Helper()
	data, err := os.ReadFile(filepath.Join(filepath.Dir(c.report), name))
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	return string(data)
}

// coax waits until the room accepts keys, presses a key, and waits for its effect.
func (c *console) coax(key, want string) {
	c.t.Helper()
	c.answer(key)
	c.sees(want)
}

func openFleet(t *testing.T, mode string, cols, rows uint16) *console {
	t.Helper()
	return open(t, "fleet "+mode, cols, rows)
}

// Commands in a city that was opened from the list reach only that city.
func TestTerminalFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	c := openFleet(t, "all", 120, 40)
	c.sees("all cities")
	c.sees("does not exist")
	c.sees("2/2")
	c.keys("/beta\r")
	c.sees("1 of 4")
	c.keys("\r")
	c.sees("switched to beta")
	c.sees("the worker of beta")
	c.coax("r", "Restart worker?")
	c.coax("y", "beta has done restart worker")
	c.keys("@")
	c.sees("/beta 1 of 4")
	c.coax("\x1b", "Cities 4")
	c.keys("/alpha\r")
	c.sees("/alpha 1 of 4")
	c.coax("\r", "switched to alpha")
	c.coax("r", "Restart worker?")
	c.coax("y", "alpha has done restart worker")
	if beta, alpha := c.did("beta"), c.did("alpha"); beta != "restart worker\n" || alpha != "restart worker\n" {
		t.Errorf("beta: %q, alpha: %q", beta, alpha)
	}
	c.sees("0 worker")
	c.coax("\x1b", "Cities /alpha")
	c.insist("q", "exit: ")
	c.ends("leave")
}

// The room of a city shows that the city does not respond, or that its city.toml does not exist.
func TestTerminalSilentCities(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	c := openFleet(t, "all", 120, 40)
	c.sees("quarry")
	c.keys("/swamp\r")
	c.sees("1 of 4")
	c.coax("\r", "no response yet")
	c.coax("@", "/swamp 1 of 4")
	c.coax("\x1b", "Cities 4")
	c.keys("/quarry\r")
	c.sees("/quarry 1 of 4")
	c.coax("\r", "city.toml does not exist")
	c.signal(syscall.SIGHUP)
	c.ends("hangup")
}

// After repeated switches between two cities, no file descriptor of the previous city is open.
func TestTerminalSwitchStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	c := openFleet(t, "joined", 100, 30)
	c.sees("this is the worker of alpha")
	first := 0
	for i := range 6 {
		to := []string{"beta", "alpha"}[i%2]
		c.coax("@", "all cities in one list")
		c.keys(to)
		c.sees("1 of 1")
		c.keys("\r")
		c.sees("worker of " + to)
		c.resize(40+uint16(i)*20, 12+uint16(i)*5)
		c.resize(100, 30)
		c.keys("\x0c")
		c.coax("r", "Restart worker?")
		c.coax("y", to+" has done restart worker")
		switch n := c.descriptors(); {
		case i == 1:
			first = n
		case i > 1 && n > first+1:
			t.Errorf("after %d switches: got %d open descriptors, after two %d", i+1, n, first)
		}
	}
	if a, b := strings.Count(c.did("alpha"), "worker"), strings.Count(c.did("beta"), "worker"); a < 3 || b < 3 || strings.Contains(c.did("alpha")+c.did("beta"), "scout") {
		t.Errorf("alpha: %q, beta: %q", c.did("alpha"), c.did("beta"))
	}
	c.coax("@", "all cities in one list")
	c.keys("beta")
	c.sees("1 of 1")
	c.keys("\r")
	c.sees("worker of beta")
	c.signal(syscall.SIGHUP)
	c.ends("hangup")
}

// A program can run one city and show another. If the user quits, the question is about the city that the program runs.
// The room keeps showing the other city, unless the user wants to stop the city that the program runs.
func TestTerminalLeavingElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	c := openFleet(t, "hosting", 120, 40)
	c.sees("this is the worker of alpha")
	c.coax("@", "all cities in one list")
	c.keys("beta")
	c.sees("1 of 1")
	c.keys("\r")
	c.sees("worker of beta")
	for _, stay := range []string{"\x1b", "n"} {
		c.coax("q", "Quit alpha?")
		c.sees("Only alpha runs in this control room's program. The city beta")
		c.keys(stay)
		c.sees("worker of beta")
	}
	for _, stay := range []string{"\x1b", "n"} {
		c.coax("q", "Quit alpha?")
		c.coax("s", "let all agents finish")
		c.sees("Only alpha runs in this control room's program. The city beta")
		c.coax(stay, "switched to beta")
		c.sees("worker of beta")
	}
	c.coax("q", "Quit alpha?")
	c.insist("b", "exit: ")
	c.ends("hand over")
}

func TestTerminalAttachElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a room in a terminal")
	}
	t.Parallel()
	c := openFleet(t, "joined", 80, 24)
	c.sees("worker of alpha")
	c.coax("@", "all cities in one list")
	c.keys("beta")
	c.sees("1 of 1")
	c.keys("\r")
	c.sees("worker of beta")
	c.coax("a", "ctrl+q detaches")
	c.sees("worker of beta")
	c.keys("\x11")
	c.sees("detached from worker; it keeps running")
	c.signal(syscall.SIGTERM)
	c.ends("terminated")
}
