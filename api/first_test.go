package api_test

import (
	"bufio"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"gcity/city/citytest"
)

func TestFirstRequestUsesDialedConnection(t *testing.T) {
	path := filepath.Join(t.TempDir(), "city.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := dial(t, path)
	first, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	l.Close() // so that a second connection fails
	go func() {
		if _, err := http.ReadRequest(bufio.NewReader(first)); err == nil {
			_, _ = first.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 37\r\n\r\n" +
				`{"turns":[{"text":"over the first"}` + "]}"))
		}
	}()
	text, err := c.Output(t.Context(), citytest.Worker, 0)
	if err != nil || text != "over the first" {
		t.Errorf("%q, %v", text, err)
	}
}
