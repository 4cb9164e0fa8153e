package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// playDolt is a minimal Dolt server for the tests: it reads its configuration and sends the MySQL greeting.
func playDolt() {
	if err := serveDolt(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serveDolt(args []string) error {
	if len(args) != 4 || args[1] != "sql-server" || args[2] != "--config" {
		return fmt.Errorf("unknown arguments %q", args)
	}
	var c struct {
		Data     string `json:"data_dir"`
		Listener struct {
			Host string `json:"host"`
			Port int    `json:"port"`
		} `json:"listener"`
	}
	data, err := os.ReadFile(args[3])
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return err
	}
	if at, err := os.Getwd(); err != nil || filepath.Base(at) != filepath.Base(c.Data) {
		return errors.Join(err, fmt.Errorf("started in %s, want %s", at, c.Data))
	}
	l, err := net.Listen("tcp", net.JoinHostPort(c.Listener.Host, strconv.Itoa(c.Listener.Port)))
	if err != nil {
		return err
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	go func() {
		<-end
		os.Exit(0)
	}()
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		_, err = c.Write([]byte{1, 0, 0, 0, 10})
		if err := errors.Join(err, c.Close()); err != nil {
			return err
		}
	}
}

func serverPID(ts *testscript.TestScript, _ bool, args []string) {
	var p struct {
		PID int `json:"pid"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(".gc/dolt/server.json")), &p))
	ts.Setenv(args[0], strconv.Itoa(p.PID))
}
