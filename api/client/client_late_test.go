package client

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gcity/internal/disk"
)

// A response may take longer than readTimeout as long as parts of it arrive. Without them, the request fails.
func TestSlowResponse(t *testing.T) {
	for pause, want := range map[time.Duration]string{readTimeout * 2 / 3: "", readTimeout * 2: "did not respond in time"} {
		synctest.Test(t, func(t *testing.T) {
			c := &Client{serverName: ControllerName, peer: new(atomic.Int32), below: "/v0", idleConn: disk.NewIdleConn()}
			c.life, c.end = context.WithCancel(t.Context())
			defer c.end()
			near, far := net.Pipe()
			defer far.Close()
			c.idleConn.Put(near)
			var wg sync.WaitGroup
			wg.Go(func() {
				if _, err := http.ReadRequest(bufio.NewReader(far)); err != nil {
					t.Error(err)
				}
				const body = `{"name":"demo"}`
				fmt.Fprintf(far, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(body))
				for i := range body {
					if i%5 == 0 {
						time.Sleep(pause)
					}
					fmt.Fprint(far, body[i:i+1])
				}
			})
			s, err := c.Snapshot(t.Context())
			if want == "" && (err != nil || s.Name != "demo") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("parts after %s: got %+v, %v", pause, s, err)
			}
			_ = near.Close()
			wg.Wait()
		})
	}
}
